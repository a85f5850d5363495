#include "sluice/plot/color_map.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sluice {
namespace {

TEST(ColorMap, of_one_direction_gets_darker_all_the_way) {
  double before = lightness(color_at(ColorMap::Sequential, 0));
  for (int i = 1; i <= 100; ++i) {
    const double here = lightness(color_at(ColorMap::Sequential, i / 100.0));
    EXPECT_LT(here, before) << i;
    EXPECT_LT(before - here, 3) << "no jump before " << i;
    before = here;
  }
  EXPECT_GT(lightness(color_at(ColorMap::Sequential, 0)), 93);
  EXPECT_LT(lightness(color_at(ColorMap::Sequential, 1)), 25);
}

TEST(ColorMap, of_two_directions_is_palest_in_the_middle_and_equally_dark_at_both_ends) {
  EXPECT_GT(lightness(color_at(ColorMap::Diverging, 0.5)), 95);
  for (int i = 0; i < 50; ++i) {
    const Color below = color_at(ColorMap::Diverging, i / 100.0),
                above = color_at(ColorMap::Diverging, 1 - i / 100.0);
    EXPECT_NEAR(lightness(below), lightness(above), 6) << i;
    EXPECT_LT(lightness(below), lightness(color_at(ColorMap::Diverging, (i + 1) / 100.0))) << i;
  }
}

TEST(ColorMap, tells_its_two_directions_apart_without_red_and_green) {
  const Color below = color_at(ColorMap::Diverging, 0), above = color_at(ColorMap::Diverging, 1);
  EXPECT_GT(below.red, below.blue);
  EXPECT_GT(above.blue, above.red);
}

TEST(ColorMap, takes_what_lies_outside_for_the_nearest_end) {
  EXPECT_EQ(color_at(ColorMap::Sequential, -3), color_at(ColorMap::Sequential, 0));
  EXPECT_EQ(color_at(ColorMap::Diverging, 7), color_at(ColorMap::Diverging, 1));
}

TEST(ColorMap, text_on_it_has_contrast) {
  for (const ColorMap map : {ColorMap::Sequential, ColorMap::Diverging}) {
    for (int i = 0; i <= 100; ++i) {
      const Color color = color_at(map, i / 100.0);
      EXPECT_GT(std::abs(lightness(color) - lightness(text_color_on(color))), 49) << i;
    }
  }
}

TEST(Lightness, goes_from_black_to_white) {
  EXPECT_NEAR(lightness({0, 0, 0}), 0, 1e-9);
  EXPECT_NEAR(lightness({255, 255, 255}), 100, 1e-3);
  EXPECT_NEAR(lightness({119, 119, 119}), 50, 0.5);
}

}  // namespace
}  // namespace sluice
