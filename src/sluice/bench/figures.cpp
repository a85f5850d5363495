#include "sluice/bench/figures.h"

#include <fmt/format.h>

#include <cmath>

namespace sluice::bench {

double rounded(double value) {
  if (value == 0) return 0;
  const double digits = 3 - std::floor(std::log10(std::abs(value)));
  // By a whole power of ten either way: its inverse is not exact and would show in the last digits.
  const double power = std::pow(10.0, std::abs(digits));
  return digits >= 0 ? std::round(value * power) / power : std::round(value / power) * power;
}

std::string figure(double value) {
  return fmt::format("{}", rounded(value));
}

std::string line(std::string_view name, std::string_view value) {
  return fmt::format("{:<16}{}\n", name, value);
}

std::string_view name_of(Precision precision) {
  return precision == Precision::F32 ? "f32" : "bf16";
}

}  // namespace sluice::bench
