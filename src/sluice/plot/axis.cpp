#include "sluice/plot/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

// Nearer to zero than this, a tenth of a step would no longer be a number.
constexpr double kNothing = 1e-290;

// A step of 1, 2 or 5 times a power of ten.
struct RoundStep {
  int digit = 1;
  int power = 0;

  double value() const { return digit * std::pow(10.0, power); }
};

RoundStep next(RoundStep step) {
  if (step.digit == 1) return {2, step.power};
  if (step.digit == 2) return {5, step.power};
  return {1, step.power + 1};
}

// Multiples of a step from low to high, both within a hair: 3 * 0.1 is above 0.3.
struct Multiples {
  double step, first, last;

  Multiples(RoundStep round, double low, double high)
      : step(round.value()), first(std::ceil(low / step - kHair)), last(std::floor(high / step + kHair)) {}

  double count() const { return last - first + 1; }

 private:
  static constexpr double kHair = 1e-9;
};

// The finest step that gives at most `most` multiples. Starting from one that gives ten times as many costs
// a few turns and needs no case distinction.
RoundStep finest_step(double low, double high, int most) {
  RoundStep step{1, static_cast<int>(std::floor(std::log10((high - low) / most))) - 1};
  while (Multiples(step, low, high).count() > most) step = next(step);
  return step;
}

struct Unit {
  double size;
  const char* name;
};

// Thousands have four digits that can be read; beyond, k, M and so on.
Unit unit_for(double largest) {
  for (const Unit unit : {Unit{1e12, "T"}, Unit{1e9, "G"}, Unit{1e6, "M"}, Unit{1e3, "k"}})
    if (largest >= unit.size && largest >= 1e4) return unit;
  return {1, ""};
}

std::string label_of(double value, RoundStep step, double largest) {
  if (value == 0) return "0";
  const Unit unit = unit_for(largest);
  const int decimals = std::max(0, static_cast<int>(std::round(std::log10(unit.size))) - step.power);
  // Too small or too large to write out: as many digits as tell neighbours apart.
  if (decimals > 6 || largest >= 1e16)
    return fmt::format("{:.{}e}", value,
                       std::max(0, static_cast<int>(std::floor(std::log10(largest))) - step.power));
  return fmt::format("{:.{}f}{}", value / unit.size, decimals, unit.name);
}

std::vector<Tick> linear_ticks(double low, double high, int most, TickValues values = TickValues::Any) {
  RoundStep step = finest_step(low, high, most);
  if (values == TickValues::Whole && step.power < 0) step = {1, 0};
  const double largest = std::max(std::abs(low), std::abs(high));
  std::vector<Tick> ticks;
  const Multiples multiples(step, low, high);
  for (double i = multiples.first; i <= multiples.last; ++i)
    ticks.push_back({i * multiples.step, label_of(i * multiples.step, step, largest)});
  return ticks;
}

std::vector<Tick> power_ticks(double low, double high, std::initializer_list<int> digits) {
  std::vector<Tick> ticks;
  for (int power = static_cast<int>(std::floor(low)); power <= static_cast<int>(std::ceil(high)); ++power) {
    for (const int digit : digits) {
      const RoundStep step{digit, power};
      const double place = std::log10(step.value());
      if (place < low - 1e-9 || place > high + 1e-9) continue;
      ticks.push_back({step.value(), label_of(step.value(), {1, power}, step.value())});
    }
  }
  return ticks;
}

// Within one power of ten there may be no or one round power: then as on a linear axis.
std::vector<Tick> log_ticks(double low, double high, int most) {
  std::vector<Tick> ticks;
  if (high - low < 20) {
    ticks = power_ticks(low, high, {1, 2, 5});
    if (static_cast<int>(ticks.size()) > most) ticks = power_ticks(low, high, {1});
    if (ticks.size() < 2) ticks = linear_ticks(std::pow(10, low), std::pow(10, high), most);
    if (static_cast<int>(ticks.size()) <= most) return ticks;
  }
  ticks.clear();
  RoundStep step = finest_step(low, high, most);
  if (step.power < 0) step = {1, 0};  // there are only whole powers
  const Multiples powers(step, low, high);
  for (double i = powers.first; i <= powers.last; ++i) {
    const RoundStep power{1, static_cast<int>(std::round(i * powers.step))};
    ticks.push_back({power.value(), label_of(power.value(), power, power.value())});
  }
  return ticks;
}

}  // namespace

bool is_on(AxisScale scale, double value) {
  return std::isfinite(value) && (scale == AxisScale::Linear || value > 0);
}

void Extent::add(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

Axis::Axis(Extent extent, AxisScale scale, TickValues values) : scale_(scale), values_(values) {
  if (extent.is_empty()) extent = scale == AxisScale::Log ? Extent{1, 10} : Extent{0, 1};
  SLUICE_ASSERT(scale == AxisScale::Linear || extent.low > 0, "Axis: a logarithm of {}", extent.low);
  low_ = along(extent.low);
  high_ = along(extent.high);
  // Values that differ by less than this are told apart by their last bits only: no axis can show that.
  const double largest = std::max(std::abs(low_), std::abs(high_));
  if (high_ - low_ > std::max(largest * 1e-9, kNothing)) return;
  // Around a layer there is no other one, around a power of ten half of the way to the next.
  const bool in_steps = scale == AxisScale::Log || values == TickValues::Whole;
  const double room = in_steps ? 0.5 : largest <= kNothing ? 1 : largest / 2;
  low_ -= room;
  high_ += room;
}

void Axis::pad(double share) {
  const double room = (high_ - low_) * share;
  low_ -= room;
  high_ += room;
}

double Axis::along(double value) const {
  return scale_ == AxisScale::Log ? std::log10(value) : value;
}

double Axis::position(double value) const {
  return (along(value) - low_) / (high_ - low_);
}

double Axis::lowest() const {
  return scale_ == AxisScale::Log ? std::pow(10.0, low_) : low_;
}

std::vector<Tick> Axis::ticks(int most) const {
  most = std::max(most, 1);
  return scale_ == AxisScale::Log ? log_ticks(low_, high_, most) : linear_ticks(low_, high_, most, values_);
}

std::vector<Tick> Axis::ticks(int most, const std::function<bool(const std::vector<Tick>&)>& fits) const {
  for (int count = std::max(most, 1); count > 1; --count) {
    std::vector<Tick> result = ticks(count);
    if (fits(result)) return result;
  }
  return ticks(1);
}

}  // namespace sluice
