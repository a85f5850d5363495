// Writing safetensors files. Tensors are handed over one after the other, so that a model can be written
// without being in memory as a whole. Several files for one model: safetensors_shards.h.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "sluice/io/safetensors_header.h"
#include "sluice/tensor/tensor.h"

namespace sluice {

struct TensorOutput {
  std::string name;
  TensorInfo info;                 // as it shall stand in the file: F32, BF16 or F16
  std::function<Tensor()> values;  // asked once, when its turn comes; F32 or BF16 of that shape
};

// A tensor that is there already, stored as it is or converted.
TensorOutput tensor_output(std::string name, Tensor tensor);
TensorOutput tensor_output(std::string name, Tensor tensor, StoredType dtype);

// In the given order, atomically: on any failure the old file or none is there. Names must differ. The
// metadata {"format": "pt"} tells the Python libraries that tensors are laid out as PyTorch's are.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorOutput> tensors,
                       const SafetensorsMetadata& metadata = {});

}  // namespace sluice
