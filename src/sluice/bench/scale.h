// Training steps on 1, 2, 4, … of the ranks that were started, on random tokens: one batch shared out over
// all (strong) and a whole batch on each (weak), in every order of the sums.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sluice/base/job_control.h"
#include "sluice/bench/scale_model.h"
#include "sluice/train/run_config.h"

namespace sluice::bench {

struct ScaleRequest {
  RunConfig config;
  int repetitions = 5;
  Link network = {.latency = 2e-6, .bandwidth = 12.5e9};  // that predictions are made for: 100 Gbit/s
};

struct ScaleCase {
  bool weak = false;
  ReduceOrder order = ReduceOrder::Exact;
  int ranks = 1, threads = 1;  // threads of each
  int64_t rank_tokens = 0;     // of a step on each; the mean, where a batch cannot be shared out equally
  double seconds = 0;          // a step, median
  double tokens_per_s = 0;
  double efficiency = 1;  // tokens per second and rank, as a share of one rank's
  Volume sent = {};       // a step, by the first rank
  double waited = 0;      // seconds a step in which it stood still for others
  double hidden = 0;      // share of the time of its messages that it did not wait; 0 on one rank
  double predicted = 0;   // seconds a step, by the model fitted here
};

struct ScalePrediction {
  int nodes = 0;
  ReduceOrder order = ReduceOrder::Fast;
  double strong = 0, weak = 0;  // seconds a step: of one batch for all nodes, and of one for each
  Volume sent = {};
  double state_bytes = 0;  // a node
};

struct ScaleResult {
  std::vector<ScaleCase> cases;
  int64_t parameters = 0;
  int64_t batch_tokens = 0;
  Link link = {};     // between the ranks of this machine; 0 if there is one
  Link network = {};  // that was asked about
  std::vector<ScalePrediction> predictions;
};

// Every rank calls it; the first one has the result. A usage error if there are more ranks than sequences.
ScaleResult measure_scale(Engine& engine, Ranks& ranks, const ScaleRequest& request,
                          const JobControl& control = {});

nlohmann::ordered_json to_json(const ScaleResult& result);
std::string to_text(const ScaleResult& result);

}  // namespace sluice::bench
