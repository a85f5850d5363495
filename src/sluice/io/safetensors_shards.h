// Writing the tensors of a model directory, or what an optimiser remembers beside them: one file, or several
// with an index. Reading: tensor_store.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "sluice/io/safetensors_writer.h"

namespace sluice {

// Names in a model directory, as the Hugging Face libraries look for them: "model" is the stem of a model's.
inline constexpr const char* kModelStem = "model";
std::string single_file(std::string_view stem);  // "model.safetensors"
std::string index_file(std::string_view stem);   // "model.safetensors.index.json"

struct ShardOptions {
  size_t max_bytes = size_t{5} << 30;  // of tensors in a file; a larger tensor gets a file of its own
  SafetensorsMetadata metadata = {{"format", "pt"}};
  std::string stem = kModelStem;
};

// Writes model.safetensors if all fits into one file, else model-00001-of-0000N.safetensors ... and the
// index. The index comes last, and a directory that already holds a model is refused: so at every moment, and
// after any failure, a reader finds the whole model or none. The directory must exist.
void write_model_tensors(const std::filesystem::path& directory, std::span<const TensorOutput> tensors,
                         const ShardOptions& options = {});

}  // namespace sluice
