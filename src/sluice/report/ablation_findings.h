// What an ablation found, in words that are computed from its figures.
#pragma once

#include <optional>
#include <vector>

#include "sluice/ablate/ablation_analysis.h"
#include "sluice/report/report.h"

namespace sluice {

// Of one run: worse, better, equivalent or undecided.
Finding run_finding(const AblatedModel& model, const AblatedText& text, size_t run,
                    const AblationResult& result);

std::vector<Finding> global_findings(const AblatedModel& model, const AblationResult& result);
// Does opening bring the sink back?
std::vector<Finding> sink_findings(const AblatedModel& model, const AblationResult& result);
// Is it the gate? Each text and action counted over its controls, kind by kind.
std::vector<ReportBlock> control_words(const AblatedModel& model, const AblationResult& result);
std::optional<Paragraph> constants_words(const AblatedModel& model);
Paragraph layer_words(const AblatedModel& model, const std::string& action, const AblationResult& result);
Paragraph head_words(const AblatedModel& model, const std::string& action, const AblationResult& result);
Paragraph sensitivity_words(const LayerSensitivity& layers);
std::vector<Paragraph> estimate_words(const AblatedModel& model);
// Models by what can be compared of them; a sentence that says so if only one has it.
std::vector<Paragraph> share_words(const AblationResult& result);

}  // namespace sluice
