#include "sluice/io/tensor_store_index.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "sluice/base/json.h"
#include "sluice/base/json_path.h"
#include "sluice/io/safetensors_header.h"

namespace sluice {
namespace {

// That of a model with 10^5 tensors has 9 MB.
constexpr JsonLimits kLimits{.bytes = size_t{32} << 20, .depth = 8};

// A file of the directory itself. Not a path: that could name any file of the machine.
bool is_plain_file_name(std::string_view name) {
  return name.ends_with(".safetensors") && name.find_first_of("/\\") == std::string_view::npos &&
         name.find("..") == std::string_view::npos && is_tensor_name(name);
}

}  // namespace

WeightMap read_weight_map(const std::filesystem::path& path) {
  const Json json = Json::load(path, kLimits).at("weight_map");
  if (!json.is_object()) throw json.unexpected("object");
  WeightMap map;
  for (const auto& [tensor, file] : json.node().items()) {
    if (!file.is_string() || !is_plain_file_name(file.get_ref<const std::string&>())) {
      throw bad_input({.where = tensor_place(json.where(), tensor),
                       .expected = "the plain name of a .safetensors file in this directory",
                       .got = described(file)});
    }
    map.emplace(tensor, file.get<std::string>());
  }
  return map;
}

}  // namespace sluice
