// What the benchmarks that count tokens share: prefill, decode, training.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sluice/bench/measure.h"

namespace sluice::bench {

struct TokenWork {
  int64_t tokens = 0;  // per repetition
  int repetitions = 0;
  Work work;
};

struct TokenRate {
  int64_t tokens = 0;  // per repetition
  int repetitions = 0;
  int threads = 0;
  Measured measured = {};
  int64_t resident = 0;  // bytes at most

  double tokens_per_second() const { return static_cast<double>(tokens) / measured.seconds; }
};

// One repetition more is done first and not counted.
TokenRate measure_tokens(Engine& engine, const TokenWork& work, const JobControl& control);

nlohmann::ordered_json to_json(const TokenRate& rate);

// Two lines: tokens per second, called `what`, and the share of the peak.
std::string to_text(const TokenRate& rate, std::string_view what);

}  // namespace sluice::bench
