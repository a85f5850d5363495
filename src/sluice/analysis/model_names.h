// What models are called in tables and figures.
#pragma once

#include <string>
#include <vector>

namespace sluice {

// The last part of each path, made unique: "runs/a/best" and "runs/b/best" are "a/best" and "b/best".
std::vector<std::string> names_of_models(const std::vector<std::string>& paths);

}  // namespace sluice
