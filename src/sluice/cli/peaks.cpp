#include "sluice/cli/peaks.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace sluice::cli {
namespace {

nlohmann::ordered_json giga(const Rate& rate) {
  return {{"one_core", rounded(rate.one_core / 1e9)}, {"all_threads", rounded(rate.all_threads / 1e9)}};
}

std::string rate_line(const char* name, const Rate& rate, const char* unit, int threads) {
  return fmt::format("{:<16}{:.1f} {} on one core, {:.1f} on {} threads\n", name, rate.one_core / 1e9, unit,
                     rate.all_threads / 1e9, threads);
}

}  // namespace

double rounded(double value) {
  if (value == 0) return 0;
  const double digits = 3 - std::floor(std::log10(std::abs(value)));
  // By a whole power of ten either way: its inverse is not exact and would show in the last digits.
  const double power = std::pow(10.0, std::abs(digits));
  return digits >= 0 ? std::round(value * power) / power : std::round(value / power) * power;
}

nlohmann::ordered_json peaks_json(const MachinePeaks& peaks) {
  nlohmann::ordered_json json = {{"f32_gflops", giga(peaks.f32_flops)},
                                 {"amx_bf16_gflops", nullptr},
                                 {"read_gb_per_s", giga(peaks.read_bandwidth)}};
  if (peaks.bf16_flops) json["amx_bf16_gflops"] = giga(*peaks.bf16_flops);
  return json;
}

std::string peaks_text(const MachinePeaks& peaks, int threads) {
  std::string text = rate_line("f32 peak", peaks.f32_flops, "GFLOP/s", threads);
  if (peaks.bf16_flops) text += rate_line("amx bf16 peak", *peaks.bf16_flops, "GFLOP/s", threads);
  return text + rate_line("memory reads", peaks.read_bandwidth, "GB/s", threads);
}

}  // namespace sluice::cli
