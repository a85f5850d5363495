#include "sluice/cli/bench_measure.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/base/interrupt.h"
#include "sluice/base/system.h"
#include "sluice/cli/bench.h"
#include "sluice/cli/peaks.h"

namespace sluice::cli {

Bound arithmetic_bound(const Engine& engine, Precision precision) {
  if (engine.isa().isa == Isa::Amx && precision == Precision::Bf16) {
    return {"amx_bf16_gflops", "GFLOP/s",
            [](const MachinePeaks& peaks) { return peaks.bf16_flops->all_threads; }};
  }
  return {"f32_gflops", "GFLOP/s", [](const MachinePeaks& peaks) { return peaks.f32_flops.all_threads; }};
}

Bound memory_bound() {
  return {"read_gb_per_s", "GB/s",
          [](const MachinePeaks& peaks) { return peaks.read_bandwidth.all_threads; }};
}

Measured measure(Engine& engine, const Work& work, int repetitions) {
  Measured measured{.repetitions = repetitions, .threads = engine.threads().count()};
  work.seconds();  // brings the weights into memory, and the pool to its size
  // Before the peaks: their buffers are not the model's.
  measured.resident = peak_resident_bytes();
  std::vector<double> seconds, shares;
  for (int i = 0; i < repetitions; ++i) {
    throw_if_interrupted();
    measured.peaks = measure_peaks(peak_kernels(engine.isa().isa), engine.threads(), engine.pool());
    seconds.push_back(work.seconds());
    shares.push_back(work.amount / seconds.back() / work.bound.peak(measured.peaks));
  }
  measured.seconds = median(seconds);
  measured.share = median(shares);
  return measured;
}

std::string rates_text(const Work& work, const Measured& measured) {
  return fmt::format("{:<16}{:.2f} tokens/s ({} tokens, {} threads, median of {})\n", work.what,
                     static_cast<double>(work.tokens) / measured.seconds, work.tokens, measured.threads,
                     measured.repetitions) +
         fmt::format("{:<16}{:.1f} {}, {:.2f} of the peak\n", "rate", work.amount / measured.seconds / 1e9,
                     work.bound.unit, measured.share);
}

nlohmann::ordered_json rates_json(const Work& work, const Measured& measured) {
  return {{"threads", measured.threads},
          {"tokens", work.tokens},
          {"repetitions", measured.repetitions},
          {"tokens_per_s", rounded(static_cast<double>(work.tokens) / measured.seconds)},
          {"rate", rounded(work.amount / measured.seconds / 1e9)},
          {"unit", work.bound.unit},
          {"share", rounded(measured.share)},
          {"share_of", work.bound.name},
          {"peak_resident_bytes", measured.resident},
          {"peaks", peaks_json(measured.peaks)}};
}

}  // namespace sluice::cli
