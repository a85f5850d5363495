// An ablation as a report: what was broken, what that did, beside controls, twins and estimates.
#pragma once

#include <string>
#include <vector>

#include "sluice/ablate/ablation_analysis.h"
#include "sluice/report/report.h"

namespace sluice {

Report ablation_report(const AblationResult& result, ReportHeader header = {});

// The sections of one model; for reports that tell more than an ablation.
std::vector<Section> ablation_sections(const AblatedModel& model, const AblationResult& result);

// Models beside each other: which layers carry the damage.
Section twins_section(const AblationResult& result);

// What an ablation was, in a sentence.
std::string ablation_words(const AblationResult& result);

}  // namespace sluice
