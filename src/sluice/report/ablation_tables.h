// The tables of an ablation.
#pragma once

#include "sluice/ablate/ablation_analysis.h"
#include "sluice/report/table.h"

namespace sluice {

std::string named_for(const AblatedModel& model, const char* what);

Table ablated_models(const AblationResult& result);                  // a row per model and text
Table ablated_runs(const AblatedModel& model);                       // a row per run and text
Table ablated_places(const AblatedModel& model, const char* group);  // layers or heads, on common chunks
Table control_table(const AblatedModel& model, const StoppingRule& rule);
Table sensitivity_table(const std::vector<LayerSensitivity>& texts, const std::string& name);
Table estimates_table(const AblatedModel& model);
Table shares_table(const AblationResult& result);

}  // namespace sluice
