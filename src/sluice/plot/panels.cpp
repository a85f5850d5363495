#include "sluice/plot/panels.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sluice/base/assert.h"
#include "sluice/plot/chart_frame.h"
#include "sluice/plot/chart_style.h"
#include "sluice/plot/text_width.h"

namespace sluice {
namespace {

constexpr double kPageMargin = 12, kBetweenPanels = 20, kBeforeCaption = 10, kCaptionLine = 14;
constexpr double kNarrowestPage = 340;  // a caption in a narrower column is hard to read
constexpr double kWidestGrid = 960;     // what a report's column has room for
constexpr double kBeforeSharedBar = 16, kLongestSharedBar = 320;

// Sizes of a grid, each column as wide as its widest panel, each row as high as its highest.
struct PanelGrid {
  std::vector<double> widths, heights;

  explicit PanelGrid(const Panels& panels) {
    size_t columns = std::clamp<size_t>(panels.columns, 1, std::max<size_t>(panels.panels.size(), 1));
    arrange(panels.panels, columns);
    while (panels.wraps && columns > 1 && width() > kWidestGrid) arrange(panels.panels, --columns);
  }

  void arrange(const std::vector<Panel>& panels, size_t columns) {
    widths.assign(columns, 0);
    heights.assign((panels.size() + columns - 1) / columns, 0);
    for (size_t i = 0; i < panels.size(); ++i) {
      double& width = widths[i % columns];
      double& height = heights[i / columns];
      width = std::max(width, panels[i].width);
      height = std::max(height, panels[i].height);
    }
  }

  static double length(const std::vector<double>& parts) {
    double sum = 0;
    for (const double part : parts) sum += part;
    return parts.empty() ? 0 : sum + static_cast<double>(parts.size() - 1) * kBetweenPanels;
  }
  double width() const { return length(widths); }
  double height() const { return length(heights); }
};

double shared_bar_width(const Panels& panels, double height) {
  if (!panels.color) return 0;
  return kBeforeSharedBar + color_bar_width(*panels.color, height);
}

std::vector<std::string> caption_lines(const std::vector<std::string>& paragraphs, double width) {
  std::vector<std::string> lines;
  for (const std::string& paragraph : paragraphs)
    for (std::string& line : wrapped(paragraph, kNoteText, width)) lines.push_back(std::move(line));
  return lines;
}

Heading page_heading(const Panels& panels) {
  return {.title = panels.title, .legend = panels.legend};
}

void draw_grid(Canvas& canvas, const Box& room, const Panels& panels, const PanelGrid& grid) {
  const size_t columns = grid.widths.size();
  Point corner{room.left, room.top};
  for (size_t i = 0; i < panels.panels.size(); ++i) {
    const size_t row = i / columns, column = i % columns;
    panels.panels[i].draw(canvas, {corner.x, corner.y, grid.widths[column], grid.heights[row]});
    corner.x += grid.widths[column] + kBetweenPanels;
    if (column + 1 == columns) corner = {room.left, corner.y + grid.heights[row] + kBetweenPanels};
  }
}

void draw_shared_bar(Canvas& canvas, const Box& room, const Panels& panels, const PanelGrid& grid) {
  if (!panels.color) return;
  const double height = std::min(grid.height(), kLongestSharedBar);
  draw_color_bar(
      canvas,
      {room.left + grid.width() + kBeforeSharedBar, room.top + (grid.height() - height) / 2, 0, height},
      *panels.color);
}

void draw_page(Canvas& canvas, const Box& page, const Panels& panels) {
  const PanelGrid grid(panels);
  Box room = draw_heading(canvas, page, page_heading(panels));
  draw_grid(canvas, room, panels, grid);
  draw_shared_bar(canvas, room, panels, grid);
  taken_from_top(room, grid.height() + kBeforeCaption);
  for (const std::string& line : caption_lines(panels.caption, page.width))
    canvas.text({room.left, taken_from_top(room, kCaptionLine).bottom() - 4}, line, kNoteText);
}

std::string spoken_title(const Panels& panels) {
  if (!panels.title.empty()) return panels.title;
  std::vector<std::string> titles;
  for (const Panel& panel : panels.panels) titles.push_back(panel.title);
  return fmt::format("{}", fmt::join(titles, "; "));
}

}  // namespace

Figure figure_of(Panels panels) {
  SLUICE_ASSERT(!panels.panels.empty(), "figure_of: no panels");
  const PanelGrid grid(panels);
  const double bar = shared_bar_width(panels, std::min(grid.height(), kLongestSharedBar));
  const double width = std::max(kNarrowestPage, grid.width() + bar);
  const size_t lines = caption_lines(panels.caption, width).size();
  const double height = heading_height(page_heading(panels), width) + grid.height() +
                        (lines == 0 ? 0 : kBeforeCaption + static_cast<double>(lines) * kCaptionLine);
  // Whole units: pictures of half a pixel have a grey edge.
  return {.width = std::ceil(width + 2 * kPageMargin),
          .height = std::ceil(height + 2 * kPageMargin),
          .title = spoken_title(panels),
          .draw = [width, height, panels = std::move(panels)](Canvas& canvas) {
            draw_page(canvas, {kPageMargin, kPageMargin, width, height}, panels);
          }};
}

Figure figure_of(Panel panel, std::vector<std::string> caption) {
  Panels panels{.columns = 1, .caption = std::move(caption)};
  panels.panels.push_back(std::move(panel));
  return figure_of(std::move(panels));
}

ColorAxis share_colors(std::vector<HeatMap>& maps) {
  SLUICE_ASSERT(!maps.empty(), "share_colors: no maps");
  std::vector<double> all;
  for (const HeatMap& map : maps) all.insert(all.end(), map.values.begin(), map.values.end());
  const ColorAxis shared(maps.front().color, all);
  ColorScale scale = shared.scale();
  scale.extent = shared.extent();
  for (HeatMap& map : maps) {
    map.color = scale;
    map.color_bar = ColorBarPlace::None;
  }
  return shared;
}

}  // namespace sluice
