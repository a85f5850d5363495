// What the reports of studies share: how they begin, and sentences.
#pragma once

#include "sluice/analysis/study.h"
#include "sluice/report/report.h"

namespace sluice {

// "0.499 [0.498, 0.500]"
std::string interval_words(const Estimate& figure);

bool any_gates(const Study& study);
int64_t gated_outputs(const Study& study);  // models with a gate at g1

// With what the models saw, which a name of a file does not say.
Report begun_report(const char* title, const Study& study, ReportHeader header);

}  // namespace sluice
