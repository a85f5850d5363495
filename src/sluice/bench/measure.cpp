#include "sluice/bench/measure.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/median.h"
#include "sluice/bench/figures.h"

namespace sluice::bench {

Bound arithmetic_bound(const Engine& engine, Precision precision) {
  if (peak_kernels(engine.isa().isa).bf16_products != nullptr && precision == Precision::Bf16)
    return {"bf16_gflops", "GFLOP/s", Peak::Bf16Flops};
  return {"f32_gflops", "GFLOP/s", Peak::F32Flops};
}

Bound memory_bound() {
  return {"read_gb_per_s", "GB/s", Peak::ReadBandwidth};
}

PeakMeter peak_meter(Engine& engine) {
  return {peak_kernels(engine.isa().isa), engine.threads(), engine.pool()};
}

Measured measure(PeakMeter& meter, const Work& work, int repetitions, const JobControl& control) {
  std::vector<double> seconds, peaks;
  for (int i = 0; i < repetitions; ++i) {
    control.stop_if_cancelled();
    peaks.push_back(meter.measure(work.bound.peak));
    seconds.push_back(work.seconds());
  }
  // Work cannot be faster than the machine: then it was the measurement of the peak that was disturbed.
  const double reached = work.amount / median(seconds);
  return {.bound = work.bound,
          .amount = work.amount,
          .seconds = median(seconds),
          .peak = std::max(median(peaks), reached)};
}

nlohmann::ordered_json to_json(const Measured& measured) {
  return {{"rate", rounded(measured.rate() / 1e9)},
          {"unit", measured.bound.unit},
          {"share", rounded(measured.share())},
          {"share_of", measured.bound.name},
          {"peak", rounded(measured.peak / 1e9)}};
}

}  // namespace sluice::bench
