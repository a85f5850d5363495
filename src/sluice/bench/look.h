// What looking at a model costs beside evaluating it: the same chunks of random tokens, in turns.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sluice/bench/model.h"

namespace sluice::bench {

struct LookCost {
  std::filesystem::path model;
  int64_t tokens = 0;  // of a chunk; a repetition has two chunks
  int repetitions = 0;
  double evaluation = 0, look = 0;  // tokens per second, medians
  double ratio = 0;                 // time of a look / time of an evaluation in one repetition, median
  int64_t weight_bytes = 0, resident = 0;
};

LookCost measure_look(Engine& engine, const ModelRequest& request, const JobControl& control = {});

nlohmann::ordered_json to_json(const LookCost& cost);
std::string to_text(const LookCost& cost);

}  // namespace sluice::bench
