// What the parts of bench that count tokens share: prefill, decode, train.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sluice/cli/bench/measure.h"

namespace sluice::cli {

struct TokenBench {
  std::string what;
  int64_t tokens = 0;  // per repetition
  int repetitions = 0;
  Work work;
};

struct TokenRates {
  Measured measured;
  int64_t resident = 0;  // bytes at most
  int threads = 0;
  MachinePeaks peaks = {};  // on one core, too
};

// One repetition more is done first and not counted.
TokenRates measure_tokens(Engine& engine, const TokenBench& bench);

// Tokens per second, rate and share.
std::string rates_text(const TokenBench& bench, const TokenRates& rates);
nlohmann::ordered_json rates_json(const TokenBench& bench, const TokenRates& rates);

}  // namespace sluice::cli
