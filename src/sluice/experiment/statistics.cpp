#include "sluice/experiment/statistics.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <vector>

#include "sluice/base/assert.h"

namespace sluice {

using nlohmann::ordered_json;

namespace {

// The probability that |t| stays below a value, for whole degrees of freedom: a finite sum over powers of the
// cosine of atan(t / sqrt(degrees)) (Abramowitz and Stegun, 26.7.3 and 26.7.4).
double student_within(double t, int64_t degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1.0, sum = degrees == 1 ? 0.0 : term;
  for (int64_t k = odd ? 3 : 2; k < degrees; k += 2) {
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  return odd ? (angle + std::sin(angle) * sum) * 2 / std::numbers::pi : std::sin(angle) * sum;
}

}  // namespace

double student_limit(double error, int64_t degrees) {
  SLUICE_ASSERT(error > 0 && error < 1 && degrees > 0, "student_limit: error {} of {} degrees", error,
                degrees);
  double low = 0, high = 1;
  while (student_within(high, degrees) < 1 - error) high *= 2;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    (student_within(middle, degrees) < 1 - error ? low : high) = middle;
  }
  return (low + high) / 2;
}

MeanInterval mean_interval(std::span<const double> values, double error) {
  SLUICE_ASSERT(!values.empty(), "mean_interval: no values");
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  MeanInterval result{.count = std::ssize(values), .mean = mean};
  if (result.count == 1) return result;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  result.half_width = student_limit(error, result.count - 1) * std::sqrt(squares / (count - 1) / count);
  return result;
}

Interval around(const MeanInterval& mean) {
  const double half = mean.half_width.value_or(std::nan(""));
  return {mean.mean - half, mean.mean + half};
}

Interval within(Interval interval, const std::optional<Interval>& possible) {
  if (!possible) return interval;
  return {.low = std::max(interval.low, possible->low), .high = std::min(interval.high, possible->high)};
}

ordered_json to_json(const MeanInterval& mean, const std::optional<Interval>& possible) {
  ordered_json json = {{"mean", mean.mean}, {"interval", nullptr}, {"count", mean.count}};
  if (mean.half_width) json["interval"] = to_json(std::optional(within(around(mean), possible)));
  return json;
}

namespace {

int64_t ended_among(std::span<const EndedPair> pairs, int64_t first) {
  return std::ranges::count_if(pairs, [&](const EndedPair& pair) { return pair.seed_index < first; });
}

// The probability of `seen` or fewer out of `of`.
double binomial_at_most(int64_t seen, int64_t of, double share) {
  double sum = 0;
  for (int64_t k = 0; k <= seen; ++k) {
    const auto n = static_cast<double>(of), i = static_cast<double>(k);
    const double ways = std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1);
    sum += std::exp(ways + i * std::log(share) + (n - i) * std::log1p(-share));
  }
  return sum;
}

// The share at which so many or fewer are seen with that probability: the fewer, the larger the share.
double share_for(int64_t seen, int64_t of, double probability) {
  double low = 0, high = 1;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    (binomial_at_most(seen, of, middle) > probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

DifferenceAtLook difference_at_look(std::span<const EndedPair> pairs, std::span<const ExperimentLook> looks) {
  DifferenceAtLook at_look{.ended_pairs = std::ssize(pairs)};
  for (const ExperimentLook& look : looks) {
    at_look.ended_pairs = ended_among(pairs, look.pairs);
    if (at_look.ended_pairs < look.pairs) break;
    at_look.look = look;
  }
  // Pairs that came after the look were not planned to be looked at with it.
  for (const EndedPair& pair : pairs)
    if (pair.difference && (!at_look.look || pair.seed_index < at_look.look->pairs))
      at_look.differences.push_back(*pair.difference);
  if (!at_look.differences.empty()) at_look.difference = mean_interval(at_look.differences, at_look.error());
  return at_look;
}

std::optional<MeanInterval> DifferenceAtLook::shown() const {
  std::optional<MeanInterval> shown = difference;
  if (shown && !look) shown->half_width.reset();
  return shown;
}

ordered_json to_json(const DifferenceAtLook& at_look, const std::optional<Interval>& possible) {
  ordered_json json = {{"ended_pairs", at_look.ended_pairs}, {"look", nullptr}, {"difference", nullptr}};
  if (at_look.look) json["look"] = {{"pairs", at_look.look->pairs}, {"error", at_look.look->error}};
  if (const auto shown = at_look.shown()) json["difference"] = to_json(*shown, possible);
  return json;
}

Interval share_interval(int64_t seen, int64_t of, double error) {
  SLUICE_ASSERT(seen >= 0 && of > 0 && seen <= of, "share_interval: {} of {}", seen, of);
  return {.low = seen == 0 ? 0.0 : share_for(seen - 1, of, 1 - error / 2),
          .high = seen == of ? 1.0 : share_for(seen, of, error / 2)};
}

}  // namespace sluice
