// A rate and the peak that bounds it, measured in turns.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "sluice/base/job_control.h"
#include "sluice/kernels/measure.h"
#include "sluice/ops/context.h"

namespace sluice::bench {

// What a rate is compared with.
struct Bound {
  const char* name = "";  // as in the JSON of the peaks
  const char* unit = "";  // of 10^9 operations or bytes per second
  Peak peak = Peak::F32Flops;
};

// The tile unit where there is one and products are bf16, else f32 multiply-adds.
Bound arithmetic_bound(const Engine& engine, Precision precision);
Bound memory_bound();

struct Work {
  double amount = 0;                // operations or bytes per repetition
  Bound bound;                      // of their rate
  std::function<double()> seconds;  // does a repetition and says how long it took
};

struct Measured {
  Bound bound;
  double amount = 0;   // per repetition
  double seconds = 0;  // of a repetition, the median
  double peak = 0;     // operations or bytes per second, the median, or the rate if that is higher

  double rate() const { return amount / seconds; }
  double share() const { return rate() / peak; }
};

// Rate, unit, share and the peak that it is a share of.
nlohmann::ordered_json to_json(const Measured& measured);

PeakMeter peak_meter(Engine& engine);

// The peak is measured before every repetition: whatever else the machine does slows both.
Measured measure(PeakMeter& meter, const Work& work, int repetitions, const JobControl& control);

}  // namespace sluice::bench
