#include "sluice/plot/token_strip.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/assert.h"
#include "sluice/plot/chart_frame.h"
#include "sluice/plot/chart_style.h"
#include "sluice/plot/fill_style.h"
#include "sluice/plot/text_width.h"
#include "sluice/plot/token_text.h"

namespace sluice {
namespace {

constexpr double kTokenHeight = 18, kBetweenRows = 4, kTokenRow = kTokenHeight + kBetweenRows,
                 kAroundText = 3, kBetweenTokens = 2;
constexpr double kBeforeTokenBar = 14, kShortestBar = 90, kLongestBar = 240;
constexpr double kBelowBar = 4;  // half of the label at its lower end
constexpr TextStyle kTokenText{.size = 10.5, .anchor = Anchor::Middle};

struct PlacedToken {
  std::string text;
  Box box;  // from the top left corner of the strip
};

struct PlacedTokens {
  std::vector<PlacedToken> tokens;
  double height = 0;
  size_t left_out = 0;

  double whole_height() const { return height + (left_out > 0 ? kTokenRow : 0); }
};

bool ends_line(const std::string& token) {
  return token.find('\n') != std::string::npos;
}

// As text is written: from left to right, a new row where there is no room or the text begins one.
PlacedTokens placed(const TokenStrip& strip, double width) {
  PlacedTokens result;
  double x = 0;
  size_t row = 0;
  for (const std::string& token : strip.tokens) {
    const std::string text = fitted(token_text(token), kTokenText, width - 2 * kAroundText);
    const double length = text_width(text, kTokenText) + 2 * kAroundText;
    if (x > 0 && x + length > width) {
      x = 0;
      ++row;
    }
    if (row >= strip.most_rows) break;
    result.tokens.push_back({text, {x, static_cast<double>(row) * kTokenRow, length, kTokenHeight}});
    result.height = static_cast<double>(row + 1) * kTokenRow;
    x += length + kBetweenTokens;
    if (ends_line(token)) {
      x = 0;
      ++row;
    }
  }
  result.left_out = strip.tokens.size() - result.tokens.size();
  return result;
}

double bar_height(double strip_height) {
  return std::clamp(strip_height, kShortestBar, kLongestBar);
}

// How high the bar will be depends on the rows and these on the width that it leaves, so it gets the room
// that any bar would need.
double strip_width(const TokenStrip& strip, double width) {
  const ColorAxis colors(strip.color, strip.values);
  double bar = 0;
  for (double height = kShortestBar; height <= kLongestBar; ++height)
    bar = std::max(bar, color_bar_width(colors, height));
  return width - kBeforeTokenBar - bar;
}

void draw_token(Canvas& canvas, const PlacedToken& token, double value, const ColorAxis& colors) {
  const Box& box = token.box;
  Color background{240, 240, 240};
  if (ColorAxis::has_color(value)) background = colors.color(value);
  canvas.rectangle(box, background);
  if (!ColorAxis::has_color(value))
    draw_hatching(canvas, box, Hatch::Rising, {.color = {200, 200, 200}, .width = 0.6});
  if (colors.scale().map == ColorMap::Diverging && value < colors.scale().centre)
    mark_below_centre(canvas, box, background);
  TextStyle style = kTokenText;
  style.color = text_color_on(background);
  canvas.text({box.left + box.width / 2, box.top + (box.height + style.size * kCapitals) / 2}, token.text,
              style);
}

void draw_tokens(Canvas& canvas, const Box& room, PlacedTokens tokens, const TokenStrip& strip) {
  const ColorAxis colors(strip.color, strip.values);
  for (size_t i = 0; i < tokens.tokens.size(); ++i) {
    tokens.tokens[i].box.left += room.left;
    tokens.tokens[i].box.top += room.top;
    draw_token(canvas, tokens.tokens[i], strip.values[i], colors);
  }
  if (tokens.left_out > 0)
    canvas.text({room.left, room.top + tokens.height + kTokenRow - 8},
                fitted(fmt::format("... and {} more tokens", tokens.left_out), kNoteText, room.width),
                kNoteText);
  draw_color_bar(canvas,
                 {room.right() + kBeforeTokenBar, room.top, 0, bar_height(tokens.height - kBetweenRows)},
                 colors);
}

}  // namespace

double token_strip_height(const TokenStrip& strip, double width) {
  return heading_height({.title = strip.title}, width) +
         std::max(placed(strip, strip_width(strip, width)).whole_height(), kShortestBar + kBelowBar);
}

void draw_token_strip(Canvas& canvas, const Box& box, const TokenStrip& strip) {
  SLUICE_ASSERT(strip.tokens.size() == strip.values.size(), "token strip: {} tokens, {} values",
                strip.tokens.size(), strip.values.size());
  Box room = draw_heading(canvas, box, {.title = strip.title});
  if (strip.tokens.empty()) return draw_emptiness(canvas, room, strip.empty);
  room.width = strip_width(strip, box.width);
  draw_tokens(canvas, room, placed(strip, room.width), strip);
}

Panel panel_of(TokenStrip strip) {
  constexpr double kNaturalWidth = 680;
  const double height = token_strip_height(strip, kNaturalWidth);
  std::string title = strip.title.empty() ? "Tokens" : strip.title;
  return {.width = kNaturalWidth,
          .height = height,
          .title = std::move(title),
          .draw = [strip = std::move(strip)](Canvas& canvas, const Box& box) {
            draw_token_strip(canvas, box, strip);
          }};
}

}  // namespace sluice
