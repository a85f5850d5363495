#include "sluice/plot/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/base/assert.h"
#include "sluice/plot/chart_frame.h"
#include "sluice/plot/chart_style.h"
#include "sluice/plot/fill_style.h"
#include "sluice/plot/text_width.h"

namespace sluice {
namespace {

// Up to so many cells are drawn one by one, with a seam; more become the pixels of one picture, which takes a
// tenth of the bytes.
constexpr size_t kMostSeparateCells = 1024;
constexpr double kSeam = 0.6;
constexpr double kBeforeBar = 12;
constexpr uint8_t kMissingLevel = kColorLevels;
constexpr TextStyle kCellText{.size = 8.5, .anchor = Anchor::Middle};

struct HeatMapFrame {
  Box area;
  CategoryLabels below, left;
  double bar_width = 0;
};

Box square_in(const Box& area, const HeatMap& map) {
  if (map.shape == CellShape::Any) return area;
  const double rows = static_cast<double>(map.rows), columns = static_cast<double>(map.columns);
  const double cell = std::min(area.width / columns, area.height / rows);
  return {area.left, area.top, cell * columns, cell * rows};
}

// Names below need height, names beside need width, and whether they are turned depends on both: three turns
// settle it.
HeatMapFrame heat_map_frame(const Box& box, const HeatMap& map, const ColorAxis& colors) {
  using Side = CategoryLabels::Side;
  constexpr double kSmallest = 4;  // something is left of the area, whatever the box
  const auto inside = [&](double left, double right, double below) {
    return square_in({box.left + left, box.top, std::max(box.width - left - right, kSmallest),
                      std::max(box.height - below, kSmallest)},
                     map);
  };
  Box area = inside(0, 0, 0);
  double bar = 0;
  for (int turn = 0;; ++turn) {
    const CategoryLabels below(map.x, map.columns, Side::Below,
                               area.width / static_cast<double>(map.columns));
    const CategoryLabels left(map.y, map.rows, Side::Left, area.height / static_cast<double>(map.rows));
    if (turn == 3) return {area, below, left, bar};
    if (map.color_bar == ColorBarPlace::Right) bar = kBeforeBar + color_bar_width(colors, area.height);
    area = inside(left.room(), bar + 1, below.room());
  }
}

Box cell_box(const Box& area, const HeatMap& map, size_t row, size_t column) {
  const double width = area.width / static_cast<double>(map.columns);
  const double height = area.height / static_cast<double>(map.rows);
  return {area.left + static_cast<double>(column) * width, area.top + static_cast<double>(row) * height,
          width, height};
}

std::string cell_number(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
  return is_zero ? fmt::format("{:.{}f}", 0.0, decimals) : text;
}

bool numbers_fit(const HeatMap& map, const Box& cell) {
  constexpr double kAround = 4;
  if (map.numbers == CellNumbers::None || map.values.size() > kMostSeparateCells) return false;
  if (cell.height < kCellText.size + 2) return false;
  return std::ranges::all_of(map.values, [&](double value) {
    return !ColorAxis::has_color(value) ||
           text_width(cell_number(value, map.decimals), kCellText) + kAround <= cell.width;
  });
}

void draw_missing(Canvas& canvas, const Box& box) {
  canvas.rectangle(box, {240, 240, 240});
  draw_hatching(canvas, box, Hatch::Rising, {.color = {170, 170, 170}, .width = 0.6});
}

bool has_missing(const HeatMap& map) {
  return !std::ranges::all_of(map.values, ColorAxis::has_color);
}

struct PaintedMap {
  const HeatMap& map;
  const ColorAxis& colors;
  Box area;

  Box cell(size_t index) const { return cell_box(area, map, index / map.columns, index % map.columns); }
  bool is_marked(double value) const {
    return map.color.map == ColorMap::Diverging && value < map.color.centre;
  }
};

void draw_cell_number(Canvas& canvas, const Box& cell, const std::string& number, Color background) {
  TextStyle style = kCellText;
  style.color = text_color_on(background);
  canvas.text({cell.left + cell.width / 2, cell.top + (cell.height + style.size * kCapitals) / 2}, number,
              style);
}

void draw_frame(Canvas& canvas, const Box& cell, Color background) {
  constexpr double kInside = 1.6;
  const double left = cell.left + kInside, top = cell.top + kInside;
  const double right = cell.right() - kSeam - kInside, bottom = cell.bottom() - kSeam - kInside;
  const Point corners[] = {{left, top}, {right, top}, {right, bottom}, {left, bottom}, {left, top}};
  canvas.line(corners, {.color = text_color_on(background), .width = 0.9});
}

void draw_cells(Canvas& canvas, const PaintedMap& painted) {
  const HeatMap& map = painted.map;
  const bool with_numbers = numbers_fit(map, painted.cell(0));
  for (size_t i = 0; i < map.values.size(); ++i) {
    const Box cell = painted.cell(i);
    if (!ColorAxis::has_color(map.values[i])) {
      draw_missing(canvas, cell);
      continue;
    }
    const Color color = painted.colors.color(map.values[i]);
    canvas.rectangle({cell.left, cell.top, std::max(cell.width - kSeam, cell.width / 2),
                      std::max(cell.height - kSeam, cell.height / 2)},
                     color);
    if (!map.framed.empty() && map.framed[i]) draw_frame(canvas, cell, color);
    if (with_numbers) draw_cell_number(canvas, cell, cell_number(map.values[i], map.decimals), color);
    if (!with_numbers && painted.is_marked(map.values[i])) mark_below_centre(canvas, cell, color);
  }
}

void draw_picture(Canvas& canvas, const PaintedMap& painted) {
  const HeatMap& map = painted.map;
  IndexedImage image{.width = map.columns, .height = map.rows};
  for (int level = 0; level < kColorLevels; ++level)
    image.palette.push_back(level_color(map.color.map, level));
  image.palette.push_back({.opacity = 0});
  image.pixels.reserve(map.values.size());
  for (const double value : map.values)
    image.pixels.push_back(ColorAxis::has_color(value) ? static_cast<uint8_t>(painted.colors.level(value))
                                                       : kMissingLevel);
  // Once below the whole picture, which covers it wherever there is a value.
  if (has_missing(map)) draw_missing(canvas, painted.area);
  canvas.image(painted.area, image);
}

void check_map(const HeatMap& map) {
  SLUICE_ASSERT(map.values.size() == map.rows * map.columns, "heat map: {} values for {} x {} cells",
                map.values.size(), map.rows, map.columns);
  SLUICE_ASSERT(map.framed.empty() || map.framed.size() == map.values.size(),
                "heat map: {} frames for {} cells", map.framed.size(), map.values.size());
}

}  // namespace

void draw_heat_map(Canvas& canvas, const Box& box, const HeatMap& map) {
  check_map(map);
  const Box room = draw_heading(canvas, box, {.title = map.title});
  if (map.values.empty()) return draw_emptiness(canvas, room, map.empty);
  const ColorAxis colors(map.color, map.values);
  const HeatMapFrame frame = heat_map_frame(room, map, colors);
  const PaintedMap painted{map, colors, frame.area};
  map.values.size() > kMostSeparateCells ? draw_picture(canvas, painted) : draw_cells(canvas, painted);
  draw_edges(canvas, frame.area);
  frame.below.draw(canvas, frame.area, room);
  frame.left.draw(canvas, frame.area, room);
  if (map.color_bar == ColorBarPlace::Right)
    draw_color_bar(canvas,
                   {frame.area.right() + kBeforeBar, frame.area.top, frame.bar_width, frame.area.height},
                   colors);
}

namespace {

// Cells large enough for a number while there are few, and an area that fits a page however many there are.
// Words below the columns get the width that they need when they are turned.
Box natural_area(const HeatMap& map) {
  constexpr double kSquare = 300, kTurnedWord = 12.5;
  if (map.shape == CellShape::Square) return {0, 0, kSquare, kSquare};
  const double columns = static_cast<double>(map.columns), rows = static_cast<double>(map.rows);
  const double words = map.x.names.empty() ? 0 : std::min(columns * kTurnedWord, 900.0);
  return {0, 0, std::max(words, std::clamp(columns * 34, 150.0, 620.0)), std::clamp(rows * 18, 90.0, 520.0)};
}

// The box around that area.
Box natural_box(const HeatMap& map) {
  using Side = CategoryLabels::Side;
  Box box = natural_area(map);
  if (map.values.empty()) return box;
  const CategoryLabels below(map.x, map.columns, Side::Below, box.width / static_cast<double>(map.columns));
  const CategoryLabels left(map.y, map.rows, Side::Left, box.height / static_cast<double>(map.rows));
  const ColorAxis colors(map.color, map.values);
  box.width += left.room() + 1;
  if (map.color_bar == ColorBarPlace::Right) box.width += kBeforeBar + color_bar_width(colors, box.height);
  box.height += below.room() + heading_height({.title = map.title}, box.width);
  return box;
}

}  // namespace

Panel panel_of(HeatMap map) {
  check_map(map);
  const Box box = natural_box(map);
  std::string title = map.title.empty() ? "Heat map" : map.title;
  return {
      .width = box.width,
      .height = box.height,
      .title = std::move(title),
      .draw = [map = std::move(map)](Canvas& canvas, const Box& room) { draw_heat_map(canvas, room, map); }};
}

}  // namespace sluice
