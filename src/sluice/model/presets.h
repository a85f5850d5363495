// Configurations that are built into the library under the names of their files.
#pragma once

#include <span>
#include <string_view>

#include "sluice/base/json.h"

namespace sluice {

struct Preset {
  std::string_view name;  // "51m-elementwise"
  std::string_view text;  // as the file has it
};

// Models, from configs/models, sorted by name. Defined in a source that the build makes from the files.
std::span<const Preset> presets();

// A file, or else the preset of that name. Bad input with the nearest one, or all of them, if there is
// neither.
Json load_file_or_preset(const std::filesystem::path& path, std::span<const Preset> presets,
                         JsonLimits limits = {});

}  // namespace sluice
