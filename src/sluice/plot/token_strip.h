// The tokens of a prompt as they follow each other, each shaded by a value.
#pragma once

#include <string>
#include <vector>

#include "sluice/plot/color_bar.h"
#include "sluice/plot/panel.h"

namespace sluice {

struct TokenStrip {
  std::string title = {};
  std::vector<std::string> tokens = {};  // bytes, as the tokenizer has them
  std::vector<double> values = {};       // as many; what is not finite is hatched
  ColorScale color = {};
  size_t most_rows = 60;  // more tokens than fit are counted in a line below
  std::string empty = "no tokens";
};

// The box holds all of it, bar and title too, if it is as high as token_strip_height says.
void draw_token_strip(Canvas& canvas, const Box& box, const TokenStrip& strip);
double token_strip_height(const TokenStrip& strip, double width);

Panel panel_of(TokenStrip strip);

}  // namespace sluice
