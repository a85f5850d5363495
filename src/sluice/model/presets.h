// The configurations of configs/models, built into the library under their file names.
#pragma once

#include <span>
#include <string_view>

namespace sluice {

struct Preset {
  std::string_view name;  // "51m-elementwise"
  std::string_view text;  // as config.json would have it
};

// Sorted by name. Defined in a source that the build makes from the files.
std::span<const Preset> presets();

}  // namespace sluice
