// Colours for values. Read in grey, a higher value of the sequential map is always darker.
#pragma once

#include "sluice/plot/canvas.h"

namespace sluice {

enum class ColorMap {
  Sequential,  // from pale yellow over green to dark blue
  Diverging,   // orange below, blue above, pale in the middle: equally dark at both ends
};

inline constexpr int kColorLevels =
    255;  // a map has no more colours than that; one is left for missing values

// From 0 to 1; what lies outside counts as the nearest end. Never NaN.
Color color_at(ColorMap map, double share);

// How light a colour looks, from 0 (black) to 100 (white): L* of CIELAB.
double lightness(Color color);

// Black or white, whichever can be read on it.
Color text_color_on(Color background);

}  // namespace sluice
