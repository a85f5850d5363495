// A whole training step on random tokens. No files are needed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/bench/token_rate.h"
#include "sluice/train/run_config.h"

namespace sluice::bench {

// The step of configs/runs/51m-elementwise.json, which docs and goals speak of, with changes "a.b=value".
RunConfig reproduction_config(const std::vector<std::string>& changes = {});

struct TrainRequest {
  RunConfig config;
  int repetitions = 5;
};

struct TrainSpeed {
  Precision precision = Precision::Bf16;
  Isa isa = Isa::Scalar;
  int64_t parameters = 0;
  int64_t sequences = 0, sequence = 0;  // of a step, and their length
  TokenRate rate = {};
  StepResult::Seconds parts = {};  // where the time of a step goes, medians
};

TrainSpeed measure_training(Engine& engine, const TrainRequest& request, const JobControl& control = {});

nlohmann::ordered_json to_json(const TrainSpeed& speed);
std::string to_text(const TrainSpeed& speed);

}  // namespace sluice::bench
