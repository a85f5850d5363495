#include "sluice/plot/category_axis.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/assert.h"
#include "sluice/plot/chart_style.h"
#include "sluice/plot/text_width.h"

namespace sluice {
namespace {

constexpr double kLongestName = 110;  // of a word; what is longer is cut
constexpr double kRowPitch = 12;      // from one line of small text to the next
constexpr double kBetweenNames = 6;
constexpr double kFromAxis = 4;

bool are_numbers(const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [](const std::string& name) {
    return !name.empty() && name.find_first_not_of("0123456789.+-") == std::string::npos;
  });
}

// The smallest round step (1, 2, 5, 10, …) at which names that need so much room are apart.
size_t thinning_step(double needed, double pitch) {
  for (size_t power = 1;; power *= 10)
    for (const size_t digit : {1, 2, 5})
      if (static_cast<double>(digit * power) * pitch >= needed) return digit * power;
}

double widest_of(const std::vector<std::string>& names) {
  double width = 0;
  for (const std::string& name : names) width = std::max(width, text_width(name, kTickText));
  return width;
}

}  // namespace

std::vector<std::string> names_of(const CategoryAxis& axis, size_t count) {
  if (!axis.names.empty()) return axis.names;
  std::vector<std::string> numbers;
  for (size_t i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

CategoryLabels::CategoryLabels(const CategoryAxis& axis, size_t count, Side side, double pitch)
    : label_(axis.label), side_(side), names_(names_of(axis, count)) {
  SLUICE_ASSERT(names_.size() == count, "category axis: {} names for {} categories", names_.size(), count);
  SLUICE_ASSERT(count == 0 || pitch > 0, "category axis: categories {} wide", pitch);
  if (count == 0) return;
  for (std::string& name : names_) name = fitted(name, kTickText, kLongestName);
  const double widest = widest_of(names_);
  if (side == Side::Left) {
    step_ = thinning_step(kRowPitch, pitch);
    longest_ = widest;
  } else if (widest + kBetweenNames <= pitch || are_numbers(names_)) {
    step_ = thinning_step(widest + kBetweenNames, pitch);
    longest_ = kLabelHeight - kFromAxis;
  } else {
    turn_ = Turn::Left;
    step_ = thinning_step(kRowPitch, pitch);
    longest_ = widest;
  }
}

double CategoryLabels::room() const {
  return longest_ + kFromAxis + 2 + (label_.empty() ? 0 : kLabelHeight);
}

void CategoryLabels::draw(Canvas& canvas, const Box& area, const Box& limits) const {
  side_ == Side::Below ? draw_below(canvas, area, limits) : draw_left(canvas, area, limits);
}

void CategoryLabels::draw_below(Canvas& canvas, const Box& area, const Box& limits) const {
  const double pitch = area.width / static_cast<double>(names_.size());
  for (size_t i = 0; i < names_.size(); i += step_) {
    const double centre = area.left + (static_cast<double>(i) + 0.5) * pitch;
    if (turn_ == Turn::Left) {
      canvas.text({centre + kTickText.size * kCapitals / 2, area.bottom() + kFromAxis}, names_[i],
                  anchored(kTickText, Anchor::End, Turn::Left));
      continue;
    }
    const double half = text_width(names_[i], kTickText) / 2;
    if (centre - half < limits.left || centre + half > limits.right()) continue;
    canvas.text({centre, area.bottom() + kFromAxis + kTickText.size * kCapitals + 2}, names_[i],
                anchored(kTickText, Anchor::Middle));
  }
  if (label_.empty()) return;
  const double middle = area.left + area.width / 2;
  const double reach = 2 * std::min(middle - limits.left, limits.right() - middle);
  canvas.text({middle, area.bottom() + room() - 4}, fitted(label_, kLabelText, reach),
              anchored(kLabelText, Anchor::Middle));
}

void CategoryLabels::draw_left(Canvas& canvas, const Box& area, const Box& limits) const {
  const double pitch = area.height / static_cast<double>(names_.size());
  for (size_t i = 0; i < names_.size(); i += step_) {
    const double centre = area.top + (static_cast<double>(i) + 0.5) * pitch;
    canvas.text({area.left - kFromAxis, centre + kTickText.size * kCapitals / 2}, names_[i],
                anchored(kTickText, Anchor::End));
  }
  if (label_.empty()) return;
  const double middle = area.top + area.height / 2;
  const double reach = 2 * std::min(middle - limits.top, limits.bottom() - middle);
  canvas.text({area.left - room() + kLabelText.size, middle}, fitted(label_, kLabelText, reach),
              anchored(kLabelText, Anchor::Middle, Turn::Left));
}

}  // namespace sluice
