// How the routers of a model spread tokens over their experts, as a section of a report and as text.
#pragma once

#include <string>

#include "sluice/analysis/study.h"
#include "sluice/report/report.h"

namespace sluice {

// For models that have experts.
Section experts_section(const StudiedModel& model);

// A line for the terminal.
std::string experts_sentence(const StudiedModel& model);

}  // namespace sluice
