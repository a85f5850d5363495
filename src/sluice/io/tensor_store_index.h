// model.safetensors.index.json: which file of a model directory has which tensor.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace sluice {

// Tensor → plain file name. Other keys of the index (metadata: sizes, which published files often miscount)
// are not used.
using WeightMap = std::map<std::string, std::string>;

WeightMap read_weight_map(const std::filesystem::path& path);

}  // namespace sluice
