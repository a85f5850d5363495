#include "sluice/cli/bench/tokens.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/base/system.h"
#include "sluice/cli/peaks.h"

namespace sluice::cli {
namespace {

double tokens_per_second(const TokenBench& bench, const TokenRates& rates) {
  return static_cast<double>(bench.tokens) / rates.measured.seconds;
}

double rate(const TokenBench& bench, const TokenRates& rates) {
  return bench.work.amount / rates.measured.seconds / 1e9;
}

}  // namespace

TokenRates measure_tokens(Engine& engine, const TokenBench& bench) {
  TokenRates rates;
  bench.work.seconds();  // brings the weights into memory, and the pool to its size
  // Before the peaks: their buffers are not the model's.
  rates.resident = peak_resident_bytes();
  rates.threads = engine.threads().count();
  PeakMeter meter = peak_meter(engine);
  rates.measured = measure(meter, bench.work, bench.repetitions);
  rates.peaks = measure_peaks(peak_kernels(engine.isa().isa), engine.threads(), engine.pool());
  return rates;
}

std::string rates_text(const TokenBench& bench, const TokenRates& rates) {
  return fmt::format("{:<16}{:.2f} tokens/s ({} tokens, {} threads, median of {})\n", bench.what,
                     tokens_per_second(bench, rates), bench.tokens, rates.threads, bench.repetitions) +
         fmt::format("{:<16}{:.1f} {}, {:.2f} of the peak\n", "rate", rate(bench, rates),
                     bench.work.bound.unit, rates.measured.share);
}

nlohmann::ordered_json rates_json(const TokenBench& bench, const TokenRates& rates) {
  return {{"threads", rates.threads},
          {"tokens", bench.tokens},
          {"repetitions", bench.repetitions},
          {"tokens_per_s", rounded(tokens_per_second(bench, rates))},
          {"rate", rounded(rate(bench, rates))},
          {"unit", bench.work.bound.unit},
          {"share", rounded(rates.measured.share)},
          {"share_of", bench.work.bound.name},
          {"peak", rounded(rates.measured.peak / 1e9)},  // beside the repetitions, as the share's is
          {"peak_resident_bytes", rates.resident},
          {"peaks", peaks_json(rates.peaks)}};
}

}  // namespace sluice::cli
