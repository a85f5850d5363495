// Writing a model directory. Gates go into the layout that the configuration names.
#pragma once

#include <filesystem>
#include <functional>

#include "sluice/io/safetensors_shards.h"
#include "sluice/model/decoder.h"

namespace sluice {

// Where the values come from; asked parameter by parameter, so that a model need not be in memory as a whole.
struct ParameterSource {
  std::function<Tensor(size_t parameter)> values;           // F32 or BF16
  std::function<StoredType(size_t parameter)> stored_type;  // as it shall stand in the file
};

// The tensors of a checkpoint. `decoder` tells names, shapes and layout; its values are not looked at.
std::vector<TensorOutput> checkpoint_tensors(const Decoder& decoder, MemoryPool& pool,
                                             const ParameterSource& source);

}  // namespace sluice
