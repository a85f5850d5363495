// What it costs to be several: training steps on the ranks that were started beside steps of one process that
// has the threads of all of them, in turns on the same cores.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sluice/base/job_control.h"
#include "sluice/train/run_config.h"
#include "sluice/train/trainer.h"

namespace sluice::bench {

struct RankCostRequest {
  RunConfig config;
  int repetitions = 5;
};

struct RankCost {
  int ranks = 1, threads = 1;  // threads of each
  int64_t tokens = 0;          // of a step
  int repetitions = 0;
  struct Steps {
    double seconds = 0;  // median
    double waited = 0;   // of them for other ranks, by the first one; median
    // Beside one process in the same turn: median, and the middle half of the turns.
    double ratio = 1, lower = 1, upper = 1;
  };
  // One process with all threads, and the ranks in two orders of the sums.
  Steps one_process = {}, fast = {}, exact = {};
  // Share of the cores that other programs, or other guests of a virtual machine's host, had meanwhile. Steps
  // say little if it is more than some per cent.
  double others = 0;
};

// Every rank calls it; the first one has the result. A usage error if the ranks are not on one machine, if
// there is only one, or if there are more than sequences.
RankCost measure_rank_cost(Engine& engine, Ranks& ranks, const RankCostRequest& request,
                           const JobControl& control = {});

nlohmann::ordered_json to_json(const RankCost& cost);
std::string to_text(const RankCost& cost);

}  // namespace sluice::bench
