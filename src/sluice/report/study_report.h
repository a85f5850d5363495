// What studies of models come to, as reports and as text.
#pragma once

#include <string>

#include "sluice/analysis/comparison.h"
#include "sluice/report/look_figures.h"
#include "sluice/report/report.h"

namespace sluice {

Report gates_report(const Study& study, ReportHeader header);
Report attention_report(const Study& study, ReportHeader header, MapScale map_scale = MapScale::Linear);
Report comparison_report(const ModelComparison& comparison, ReportHeader header);

// A few lines for the terminal.
std::string gates_text(const Study& study);
std::string attention_text(const Study& study);
std::string to_text(const ModelComparison& comparison);

}  // namespace sluice
