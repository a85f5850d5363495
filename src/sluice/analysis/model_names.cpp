#include "sluice/analysis/model_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace sluice {
namespace {

// Without a slash at its end.
std::filesystem::path directory_named(const std::string& path) {
  const std::filesystem::path whole = std::filesystem::path(path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

std::vector<std::string> names_of_models(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    const std::filesystem::path whole = directory_named(path);
    std::string name = whole.filename().string();
    const auto confusable = [&](const std::string& other) {
      return directory_named(other) != whole && directory_named(other).filename() == whole.filename();
    };
    if (std::ranges::any_of(paths, confusable))
      name = (whole.parent_path().filename() / whole.filename()).string();
    const auto taken = std::ranges::count(names, name);
    names.push_back(taken == 0 ? name : fmt::format("{} ({})", name, names.size() + 1));
  }
  return names;
}

}  // namespace sluice
