// A rate beside the peak that bounds it, both measured in turns.
#pragma once

#include <functional>

#include "sluice/kernels/measure.h"
#include "sluice/ops/context.h"

namespace sluice::cli {

// What a rate is compared with.
struct Bound {
  const char* name;  // as in the JSON of the peaks
  const char* unit;  // of which a rate has thousands of millions
  Peak peak;
};

// The tile unit where there is one and products are bf16, else f32 multiply-adds.
Bound arithmetic_bound(const Engine& engine, Precision precision);
Bound memory_bound();

struct Work {
  double amount;                    // operations or bytes per repetition
  Bound bound;                      // of their rate
  std::function<double()> seconds;  // does a repetition and says how long it took
};

struct Measured {
  double seconds = 0, share = 0, peak = 0;  // medians
};

PeakMeter peak_meter(Engine& engine);

// The peak is measured beside every repetition: what else the machine does then slows both.
Measured measure(PeakMeter& meter, const Work& work, int repetitions);

}  // namespace sluice::cli
