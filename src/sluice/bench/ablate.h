// What breaking a model costs: the seeds' plan on chunks of random tokens, runs sharing what they have in
// common against each run on its own, in one process with the weights packed once.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/bench/model.h"

namespace sluice::bench {

struct AblateRequest {
  ModelRequest model;        // tokens: of a chunk, 0 for 512
  int64_t chunks = 1;        // of a repetition
  int64_t naive_runs = 0;    // runs that are timed on their own, spread over the plan; 0: all
  bool layers_only = false;  // each layer open, and nothing else
};

// The plan on a model of another depth or with another number of heads, of the same width together. By
// arithmetic: in evaluations of a chunk by that model.
struct PlanGrowth {
  int64_t layers = 0, heads = 0, runs = 0;
  double naive = 0, shared = 0;
};

struct AblateCost {
  std::filesystem::path model;
  int64_t tokens = 0, chunks = 0, runs = 0, naive_runs = 0;
  int repetitions = 0;
  double naive = 0, shared = 0;  // seconds for all runs, medians; naive is scaled up if not all were timed
  double ratio = 0;              // shared / naive of one repetition, median
  double bound = 0;              // the same in floating-point operations
  int64_t planned_bytes = 0;     // beside the weights, as the plan says
  int64_t weight_bytes = 0, resident = 0;
  std::vector<PlanGrowth> growth = {};  // of the model itself first
};

AblateCost measure_ablation(Engine& engine, const AblateRequest& request, const JobControl& control = {});

nlohmann::ordered_json to_json(const AblateCost& cost);
std::string to_text(const AblateCost& cost);

}  // namespace sluice::bench
