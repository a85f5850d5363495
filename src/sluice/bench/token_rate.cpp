#include "sluice/bench/token_rate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/base/system.h"
#include "sluice/bench/figures.h"

namespace sluice::bench {

TokenRate measure_tokens(Engine& engine, const TokenWork& work, const JobControl& control) {
  work.work.seconds();  // brings the weights into memory, and the pool to its size
  // Before the peaks: their buffers are not the model's.
  const int64_t resident = peak_resident_bytes();
  PeakMeter meter = peak_meter(engine);
  return {.tokens = work.tokens,
          .repetitions = work.repetitions,
          .threads = engine.threads().count(),
          .measured = measure(meter, work.work, work.repetitions, control),
          .resident = resident};
}

nlohmann::ordered_json to_json(const TokenRate& rate) {
  nlohmann::ordered_json json = {{"threads", rate.threads},
                                 {"tokens", rate.tokens},
                                 {"repetitions", rate.repetitions},
                                 {"tokens_per_s", rounded(rate.tokens_per_second())}};
  json.update(to_json(rate.measured));
  json["peak_resident_bytes"] = rate.resident;
  return json;
}

std::string to_text(const TokenRate& rate, std::string_view what) {
  const Measured& measured = rate.measured;
  return line(what, fmt::format("{:.2f} tokens/s ({} tokens, {} threads, median of {})",
                                rate.tokens_per_second(), rate.tokens, rate.threads, rate.repetitions)) +
         line("rate", fmt::format("{} {}, {:.3f} of the peak, {} {} measured in turns with it",
                                  figure(measured.rate() / 1e9), measured.bound.unit, measured.share(),
                                  figure(measured.peak / 1e9), measured.bound.unit));
}

}  // namespace sluice::bench
