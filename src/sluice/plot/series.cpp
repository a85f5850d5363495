#include "sluice/plot/series.h"

namespace sluice {
namespace {

// Okabe and Ito's colours for all kinds of sight, without their yellow, which is too light for a line.
constexpr Color kColors[] = {{0, 114, 178}, {213, 94, 0},  {0, 158, 115}, {204, 121, 167},
                             {0, 0, 0},     {230, 159, 0}, {86, 180, 233}};
const std::vector<double> kDashes[] = {{}, {6, 2}, {2, 2}, {8, 2, 2, 2}};
constexpr Marker kMarkers[] = {Marker::Disc, Marker::Square, Marker::Triangle, Marker::Diamond,
                               Marker::Cross};

void draw_cross(Canvas& canvas, Point at, double r, const Stroke& stroke) {
  const Point falling[] = {{at.x - r, at.y - r}, {at.x + r, at.y + r}};
  const Point rising[] = {{at.x - r, at.y + r}, {at.x + r, at.y - r}};
  canvas.line(falling, stroke);
  canvas.line(rising, stroke);
}

}  // namespace

SeriesStyle style_number(size_t index) {
  return {.color = kColors[index % std::size(kColors)],
          .dashes = kDashes[index % std::size(kDashes)],
          .marker = kMarkers[index % std::size(kMarkers)]};
}

Color with_opacity(Color color, double opacity) {
  color.opacity = opacity;
  return color;
}

void draw_marker(Canvas& canvas, Point at, const SeriesStyle& style) {
  const double r = style.radius, edge = r * 0.88;  // shapes of about the same area
  switch (style.marker) {
    case Marker::None:
      return;
    case Marker::Disc:
      return canvas.disc(at, r, style.color);
    case Marker::Square:
      return canvas.rectangle({at.x - edge, at.y - edge, 2 * edge, 2 * edge}, style.color);
    case Marker::Cross:
      return draw_cross(canvas, at, 0.85 * r, {.color = style.color, .width = 0.56 * r});
    case Marker::Triangle: {
      const Point corners[] = {
          {at.x, at.y - 1.25 * r}, {at.x + 1.15 * r, at.y + 0.85 * r}, {at.x - 1.15 * r, at.y + 0.85 * r}};
      return canvas.polygon(corners, style.color);
    }
    case Marker::Diamond: {
      const Point corners[] = {
          {at.x, at.y - 1.3 * r}, {at.x + 1.3 * r, at.y}, {at.x, at.y + 1.3 * r}, {at.x - 1.3 * r, at.y}};
      return canvas.polygon(corners, style.color);
    }
  }
}

}  // namespace sluice
