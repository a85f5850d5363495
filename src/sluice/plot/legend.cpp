#include "sluice/plot/legend.h"

#include "sluice/plot/text_width.h"

namespace sluice {
namespace {

constexpr double kSample = 26, kGap = 6, kBetween = 18, kRow = 16;
const TextStyle kText{.size = 11};

struct Place {
  std::string name;
  Point at;  // left end of the sample
};

// Entries fill a row from the left and go on in the next.
std::vector<Place> places(const std::vector<LegendEntry>& entries, double width) {
  std::vector<Place> result;
  Point next{0, kRow / 2};
  for (const LegendEntry& entry : entries) {
    const std::string name = fitted(entry.name, kText, width - kSample - kGap);
    const double length = kSample + kGap + text_width(name, kText);
    if (next.x > 0 && next.x + length > width) next = {0, next.y + kRow};
    result.push_back({name, next});
    next.x += length + kBetween;
  }
  return result;
}

void draw_sample(Canvas& canvas, Point left, const SeriesStyle& style) {
  const Point ends[] = {left, {left.x + kSample, left.y}};
  if (style.width > 0)
    canvas.line(ends, {.color = style.color, .width = style.width, .dashes = style.dashes});
  draw_marker(canvas, {left.x + kSample / 2, left.y}, style);
}

}  // namespace

double legend_height(const std::vector<LegendEntry>& entries, double width) {
  return entries.empty() ? 0 : places(entries, width).back().at.y + kRow / 2;
}

void draw_legend(Canvas& canvas, const Box& box, const std::vector<LegendEntry>& entries) {
  const std::vector<Place> where = places(entries, box.width);
  for (size_t i = 0; i < entries.size(); ++i) {
    const Point left{box.left + where[i].at.x, box.top + where[i].at.y};
    draw_sample(canvas, left, entries[i].style);
    canvas.text({left.x + kSample + kGap, left.y + 4}, where[i].name, kText);
  }
}

}  // namespace sluice
