// Names of files and anchors: safe whatever a model is called, and each used once.
#pragma once

#include <string>
#include <string_view>

#include "sluice/report/report.h"

namespace sluice {

// Letters, digits and "._-+=,"; everything else is an underscore. Never empty, never a hidden file, an option
// or a path.
std::string safe_file_stem(std::string_view text);

// The report with anchors, table names and figure stems that are safe and unique (a second "x" is "x-2"),
// also where file systems do not tell "X" from "x". Every writer goes through this, so all use the same
// names. A figure keeps its table; that it is in the report is asserted.
Report with_unique_names(Report report);

}  // namespace sluice
