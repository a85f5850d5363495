// How much slower training gets beside a busy process. No files are needed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/ops/engine.h"
#include "sluice/train/run_config.h"

namespace sluice::bench {

// Steps of a few milliseconds, where waiting for a thread that is held up costs most; with changes
// "a.b=value".
RunConfig neighbour_config(const std::vector<std::string>& changes = {});

struct NeighbourRequest {
  RunConfig config;
  int repetitions = 5;  // each: some steps alone, then as many seconds of steps beside the neighbour
};

struct NeighbourCost {
  int threads = 0;
  int64_t parameters = 0, tokens = 0;  // of the model, and of a step
  int repetitions = 0;
  double alone = 0, beside = 0;  // tokens per second, medians
  double slowdown = 0;           // alone / beside of one repetition, median
};

// The neighbour keeps one core busy in a process and a session of its own. It ends with the measurement, or
// with this process if that is killed.
NeighbourCost measure_neighbour(Engine& engine, const NeighbourRequest& request,
                                const JobControl& control = {});

nlohmann::ordered_json to_json(const NeighbourCost& cost);
std::string to_text(const NeighbourCost& cost);

}  // namespace sluice::bench
