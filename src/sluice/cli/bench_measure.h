// What the parts of `sluice bench` that run a model share: repetitions beside the machine's peaks, and how
// their result is shown.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sluice/kernels/measure.h"
#include "sluice/ops/context.h"

namespace sluice::cli {

// What a rate is compared with.
struct Bound {
  const char* name;  // as in the JSON of the peaks
  const char* unit;
  std::function<double(const MachinePeaks&)> peak;  // per second, on all threads
};

// Of tiles where products of this precision run on them, of f32 multiply-adds otherwise.
Bound arithmetic_bound(const Engine& engine, Precision precision);
Bound memory_bound();

struct Work {
  std::string what;
  int64_t tokens;  // per repetition
  double amount;   // operations or bytes per repetition
  Bound bound;
  std::function<double()> seconds;  // does a repetition
};

struct Measured {
  int repetitions = 0, threads = 0;
  double seconds = 0, share = 0;  // medians
  int64_t resident = 0;           // bytes at most
  MachinePeaks peaks = {};        // of the last repetition
};

// One repetition more is done first and not counted. Peaks are measured beside every repetition: what else
// the machine does then slows both.
Measured measure(Engine& engine, const Work& work, int repetitions);

// Tokens per second, rate and share.
std::string rates_text(const Work& work, const Measured& measured);
nlohmann::ordered_json rates_json(const Work& work, const Measured& measured);

}  // namespace sluice::cli
