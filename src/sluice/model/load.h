// A model directory → a decoder ready to run.
#pragma once

#include <filesystem>
#include <memory>

#include "sluice/model/decoder.h"

namespace sluice {

// Matrices are kept in `dtype` (F32 or BF16), norms and biases in F32. Tensors that are missing, unexpected
// or of another shape are bad input that names them.
std::unique_ptr<Decoder> load_model(Engine& engine, const std::filesystem::path& directory, DType dtype);

}  // namespace sluice
