// A report as one page that needs nothing besides itself: it opens from a file, loads nothing, and runs no
// script but its own, which the page names by its hash.
#pragma once

#include <string>

#include "sluice/report/report.h"

namespace sluice {

std::string html_of(const Report& report);

}  // namespace sluice
