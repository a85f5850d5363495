#include "sluice/cli/bench/measure.h"

#include "sluice/base/interrupt.h"
#include "sluice/cli/bench/bench.h"

namespace sluice::cli {

Bound arithmetic_bound(const Engine& engine, Precision precision) {
  if (engine.isa().isa == Isa::Amx && precision == Precision::Bf16)
    return {"amx_bf16_gflops", "GFLOP/s", Peak::Bf16Flops};
  return {"f32_gflops", "GFLOP/s", Peak::F32Flops};
}

Bound memory_bound() {
  return {"read_gb_per_s", "GB/s", Peak::ReadBandwidth};
}

PeakMeter peak_meter(Engine& engine) {
  return {peak_kernels(engine.isa().isa), engine.threads(), engine.pool()};
}

Measured measure(PeakMeter& meter, const Work& work, int repetitions) {
  std::vector<double> seconds, shares, peaks;
  for (int i = 0; i < repetitions; ++i) {
    throw_if_interrupted();
    peaks.push_back(meter.measure(work.bound.peak));
    seconds.push_back(work.seconds());
    shares.push_back(work.amount / seconds.back() / peaks.back());
  }
  return {.seconds = median(seconds), .share = median(shares), .peak = median(peaks)};
}

}  // namespace sluice::cli
