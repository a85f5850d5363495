#include "sluice/report/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr const char* kDash = "–";
// Outside of these a number has more zeros than digits.
constexpr double kSmallestPlain = 1e-4, kLargestPlain = 1e12;
constexpr int kMostDecimals = 12;
// Values that are equal but for the last bits have an interval of this width, which says nothing.
constexpr double kRoundingNoise = 1e-9;

// A comma between every three digits before the point.
std::string with_commas(std::string digits) {
  const size_t begin = digits.starts_with('-') || digits.starts_with('+') ? 1 : 0;
  size_t at = std::min(digits.find('.'), digits.size());
  while (at > begin + 3) digits.insert(at -= 3, 1, ',');
  return digits;
}

int place_of(double value) {
  return static_cast<int>(std::floor(std::log10(std::fabs(value))));
}

std::string signed_text(std::string digits, double value, const NumberFormat& format) {
  // What is rounded to zero has no sign.
  if (digits.find_first_of("123456789") == std::string::npos) {
    if (digits.starts_with('-')) digits.erase(0, 1);
    return digits;
  }
  return format.sign == NumberSign::Always && value > 0 ? "+" + digits : digits;
}

// Without the unit of a percentage.
std::string rounded(double value, int decimals, const NumberFormat& format) {
  return signed_text(with_commas(fmt::format("{:.{}f}", value, std::clamp(decimals, 0, kMostDecimals))),
                     value, format);
}

std::string significant(double value, const NumberFormat& format) {
  const double size = std::fabs(value);
  if (value == 0) return "0";
  if (size < kSmallestPlain || size >= kLargestPlain)
    return signed_text(fmt::format("{:.{}e}", value, std::max(0, format.digits - 1)), value, format);
  return rounded(value, format.digits - 1 - place_of(value), format);
}

double scale_of(const NumberFormat& format) {
  return format.style == NumberStyle::Percent ? 100 : 1;
}

const char* unit_of(const NumberFormat& format) {
  return format.style == NumberStyle::Percent ? " %" : "";
}

// How a value beside this interval is written; both are scaled already.
std::string beside(double value, const Interval& interval, const NumberFormat& format) {
  if (!std::isfinite(value)) return kDash;
  const double half = (interval.high - interval.low) / 2;
  const double largest = std::max({std::fabs(value), std::fabs(interval.low), std::fabs(interval.high)});
  const bool is_plain = largest >= kSmallestPlain && largest < kLargestPlain;
  // Also false of an interval without an end.
  if (!is_plain || !(half > kRoundingNoise * largest)) return significant(value, format);
  return rounded(value, 1 - place_of(half), format);
}

Interval scaled(const Interval& interval, const NumberFormat& format) {
  return {interval.low * scale_of(format), interval.high * scale_of(format)};
}

}  // namespace

std::string number_text(double value, const NumberFormat& format) {
  if (std::isnan(value)) return kDash;
  if (std::isinf(value)) return value < 0 ? "-∞" : "∞";
  if (format.style == NumberStyle::Significant) return significant(value, format);
  return rounded(value * scale_of(format), format.digits, format) + unit_of(format);
}

std::string integer_text(int64_t value) {
  return with_commas(std::to_string(value));
}

std::string counted_text(int64_t count, std::string_view singular, std::string_view plural) {
  const std::string number = integer_text(count);
  if (count == 1) return fmt::format("{} {}", number, singular);
  return plural.empty() ? fmt::format("{} {}s", number, singular) : fmt::format("{} {}", number, plural);
}

std::string number_text(const Estimate& estimate, const NumberFormat& format) {
  if (!estimate.ci95) return number_text(estimate.value, format);
  const Interval interval = scaled(*estimate.ci95, format);
  return fmt::format("{} [{}, {}]{}", beside(estimate.value * scale_of(format), interval, format),
                     beside(interval.low, interval, format), beside(interval.high, interval, format),
                     unit_of(format));
}

std::string value_text(const Estimate& estimate, const NumberFormat& format) {
  if (!estimate.ci95) return number_text(estimate.value, format);
  return beside(estimate.value * scale_of(format), scaled(*estimate.ci95, format), format) + unit_of(format);
}

std::string interval_text(const Interval& interval, const NumberFormat& format) {
  const Interval shown = scaled(interval, format);
  return fmt::format("{} to {}{}", beside(shown.low, shown, format), beside(shown.high, shown, format),
                     unit_of(format));
}

}  // namespace sluice
