#include <fmt/ranges.h>

#include "sluice/base/suggest.h"
#include "sluice/model/presets.h"

namespace sluice {

Json load_file_or_preset(const std::filesystem::path& path, std::span<const Preset> presets,
                         JsonLimits limits) {
  std::error_code unknown;  // a path that cannot be looked at is refused when it is opened
  // A directory may have a preset's name: a run is easily called after what it runs.
  if (std::filesystem::exists(path, unknown) && !std::filesystem::is_directory(path, unknown))
    return Json::load(path, limits);
  std::vector<std::string> names;
  for (const Preset& preset : presets) {
    if (path == preset.name) return Json::parse(preset.text, fmt::format("preset {}", preset.name));
    names.emplace_back(preset.name);
  }
  // A mistyped name gets the nearest one; a mistyped path only its own error.
  const bool looks_like_a_name = !path.has_parent_path() && path.extension() != ".json";
  if (!looks_like_a_name || std::filesystem::is_directory(path, unknown)) return Json::load(path, limits);
  const std::string suggestion = did_you_mean(path.string(), names);
  throw bad_input(
      {.where = path.string(),
       .what = "no such file or preset",
       .hint = suggestion.empty() ? fmt::format("presets: {}", fmt::join(names, ", ")) : suggestion});
}

}  // namespace sluice
