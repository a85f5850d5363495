// How areas are told apart: a pale colour with its outline, and hatching for print in black and white.
#pragma once

#include "sluice/plot/canvas.h"

namespace sluice {

enum class Hatch { None, Rising, Falling, Crossed, Level };

struct FillStyle {
  Color color = {};  // of outline and hatching; the area has a paler one
  Hatch hatch = Hatch::None;
};

// The first 35 differ. Their colours are those of style_number (plot/series.h).
FillStyle fill_number(size_t index);

// Part of the way from a colour to white: 0 gives the colour, 1 white.
Color paler(Color color, double share);

void draw_filled(Canvas& canvas, const Box& box, const FillStyle& style);
void draw_hatching(Canvas& canvas, const Box& box, Hatch hatch, const Stroke& stroke);

}  // namespace sluice
