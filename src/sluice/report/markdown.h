// A report as Markdown (GitHub's kind, for the tables). Figures are links to the files that write_report()
// puts beside.
#pragma once

#include <string>

#include "sluice/report/report.h"

namespace sluice {

std::string markdown_of(const Report& report);

}  // namespace sluice
