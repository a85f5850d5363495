// Which Sluice this is, and how it was built.
#pragma once

#include <string_view>

namespace sluice {

struct BuildInfo {
  std::string_view version;   // "0.1.0"
  std::string_view type;      // of the build: "Release"
  std::string_view compiler;  // "GNU 12.2.0"
};

BuildInfo build_info();

}  // namespace sluice
