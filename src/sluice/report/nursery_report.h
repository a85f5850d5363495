// A pair of the nursery as a section of the demo's report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/report/nursery.h"
#include "sluice/report/nursery_seeds.h"
#include "sluice/report/report.h"

namespace sluice {

Section nursery_section(const NurseryResult& result);

// A row per model, per head of a model, per stored run; per variant over seeds, and its difference from the
// baseline.
Table nursery_models(const NurseryResult& result);
Table nursery_heads(const NurseryResult& result);
Table nursery_runs(const NurseryPair& pair, const ExperimentResult& seeds);
Table nursery_seed_means(const NurseryPair& pair, const ExperimentResult& seeds);
Table nursery_seed_differences(const NurseryPair& pair, const ExperimentResult& seeds);

// Sink by layer and head of both models, and the map of each one's strongest head on one document.
ReportFigure nursery_sink_figure(const NurseryResult& result);
ReportFigure nursery_map_figure(const NurseryResult& result);

// What the text and the page say alike.
std::string nursery_introduction(const NurseryResult& result);
// What became of such models later, so that nobody takes the end of this training for the end; empty: not
// known.
std::string nursery_longer(const NurseryResult& result);
std::vector<std::string> nursery_notes(const NurseryResult& result);
std::string nursery_seed_note(const NurseryPair& pair, const ExperimentResult& seeds);
std::vector<std::string> nursery_next_commands(const NurseryResult& result);

std::string to_text(const NurseryResult& result);
nlohmann::ordered_json to_json(const NurseryResult& result);

}  // namespace sluice
