#include "sluice/plot/legend.h"

#include <fmt/format.h>

#include "sluice/plot/text_width.h"

namespace sluice {
namespace {

constexpr double kSample = 26, kGap = 6, kBetween = 18, kRow = 16;
constexpr int kMostRows = 6;  // more would be larger than the charts that they explain
const TextStyle kText{.size = 11};

struct Place {
  const LegendEntry* entry;  // none: the words about entries that are left out
  std::string name;
  Point at;  // left end

  double sample() const { return entry == nullptr ? 0 : kSample + kGap; }
};

// Names fill a row from the left and go on in the next.
class Rows {
 public:
  explicit Rows(double width) : width_(width) {}

  void add(const LegendEntry* entry, const std::string& name) {
    Place place{entry, name, {}};
    place.name = fitted(name, kText, width_ - place.sample());
    const double length = place.sample() + text_width(place.name, kText);
    if (next_.x > 0 && next_.x + length > width_) next_ = {0, next_.y + kRow};
    place.at = next_;
    next_.x += length + kBetween;
    places_.push_back(std::move(place));
  }

  double height() const { return places_.empty() ? 0 : next_.y + kRow / 2; }
  const std::vector<Place>& places() const { return places_; }

 private:
  double width_;
  Point next_{0, kRow / 2};
  std::vector<Place> places_;
};

Rows first_rows(const std::vector<LegendEntry>& entries, size_t count, double width) {
  Rows rows(width);
  for (size_t i = 0; i < count; ++i) rows.add(&entries[i], entries[i].name);
  if (count < entries.size()) rows.add(nullptr, fmt::format("… and {} more", entries.size() - count));
  return rows;
}

// As many entries as there is room for.
Rows rows_of(const std::vector<LegendEntry>& entries, double width) {
  size_t count = entries.size();
  Rows rows = first_rows(entries, count, width);
  while (rows.height() > kMostRows * kRow) rows = first_rows(entries, --count, width);
  return rows;
}

void draw_sample(Canvas& canvas, Point left, const LegendEntry& entry) {
  constexpr double kHeight = 10, kWidthOfArea = 20;  // recognised without the length that dashes need
  if (entry.fill)
    return draw_filled(canvas, {left.x + 1, left.y - kHeight / 2, kWidthOfArea, kHeight}, *entry.fill);
  const SeriesStyle& style = entry.style;
  const Point ends[] = {left, {left.x + kSample, left.y}};
  if (style.width > 0)
    canvas.line(ends, {.color = style.color, .width = style.width, .dashes = style.dashes});
  draw_marker(canvas, {left.x + kSample / 2, left.y}, style);
}

}  // namespace

double legend_height(const std::vector<LegendEntry>& entries, double width) {
  return rows_of(entries, width).height();
}

void draw_legend(Canvas& canvas, const Box& box, const std::vector<LegendEntry>& entries) {
  const Rows rows = rows_of(entries, box.width);
  for (const Place& place : rows.places()) {
    const Point left{box.left + place.at.x, box.top + place.at.y};
    if (place.entry != nullptr) draw_sample(canvas, left, *place.entry);
    canvas.text({left.x + place.sample(), left.y + 4}, place.name, kText);
  }
}

}  // namespace sluice
