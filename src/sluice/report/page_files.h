// The style sheet and the script of a report's page: style.css and script.js of this folder, built into the
// library.
#pragma once

#include <span>
#include <string_view>

namespace sluice {

struct PageFile {
  std::string_view name;  // without its ending: "style", "script"
  std::string_view text;
};

// Defined in a source that the build makes from the files.
std::span<const PageFile> page_files();

}  // namespace sluice
