#include "sluice/bench/peaks.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/bench/figures.h"

namespace sluice::bench {
namespace {

nlohmann::ordered_json giga(const Rate& rate) {
  return {{"one_core", rounded(rate.one_core / 1e9)}, {"all_threads", rounded(rate.all_threads / 1e9)}};
}

std::string rate_line(const char* name, const Rate& rate, const char* unit, int threads) {
  return line(name, fmt::format("{:.1f} {} on one core, {:.1f} on {} threads", rate.one_core / 1e9, unit,
                                rate.all_threads / 1e9, threads));
}

}  // namespace

Peaks measure_peaks(Engine& engine, const JobControl& control) {
  const MachinePeaks measured =
      sluice::measure_peaks(peak_kernels(engine.isa().isa), engine.threads(), engine.pool());
  control.stop_if_cancelled();
  return {.isa = engine.isa().isa, .threads = engine.threads().count(), .measured = measured};
}

nlohmann::ordered_json to_json(const Peaks& peaks) {
  nlohmann::ordered_json json = {{"isa", name_of(peaks.isa)},
                                 {"threads", peaks.threads},
                                 {"f32_gflops", giga(peaks.measured.f32_flops)},
                                 {"bf16_gflops", nullptr},
                                 {"read_gb_per_s", giga(peaks.measured.read_bandwidth)}};
  if (peaks.measured.bf16_flops) json["bf16_gflops"] = giga(*peaks.measured.bf16_flops);
  return json;
}

std::string to_text(const Peaks& peaks) {
  const MachinePeaks& measured = peaks.measured;
  std::string text = rate_line("f32 peak", measured.f32_flops, "GFLOP/s", peaks.threads);
  if (measured.bf16_flops) text += rate_line("bf16 peak", *measured.bf16_flops, "GFLOP/s", peaks.threads);
  return text + rate_line("memory reads", measured.read_bandwidth, "GB/s", peaks.threads);
}

}  // namespace sluice::bench
