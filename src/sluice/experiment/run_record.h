// All that is kept of a run that has ended, and its form in JSON: in results and in ledgers (ledger.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/json.h"
#include "sluice/experiment/experiment_result.h"

namespace sluice {

struct RunRecord {
  MeasuredTraining figures;
  int64_t steps = 0, tokens = 0;
  double sink_floor = 0;                 // what uniform attention would put on the first token
  std::vector<CoursePoint> course = {};  // if the experiment asks for it
  std::optional<BrokenRun> broken = {};  // likewise
  std::string plan = {};                 // as run_plan() has it
  std::string rules = {};  // as rules_of_judgement() had it when the run had ended; empty: not known
  std::string date = {};   // of that day, "2026-11-19"; empty: not known
  std::string text = {};   // its tokens, by name; of somebody's own file the name has a checksum in it
};

nlohmann::ordered_json to_json(const MeasuredTraining& run);
nlohmann::ordered_json to_json(const std::vector<CoursePoint>& course);
nlohmann::ordered_json to_json(const BrokenRun& run, const BreakingPlan& plan);
nlohmann::ordered_json to_json(const RunRecord& record, const Experiment& experiment);

// Bad input that names what is not as to_json() writes it, or what the experiment asks of such a run and the
// record lacks.
MeasuredTraining read_figures(const Json& json);
RunRecord read_run_record(const Json& json, const Experiment& experiment);

// To what a result says of all runs together.
void add_record(ExperimentResult& result, const RunRecord& record);

}  // namespace sluice
