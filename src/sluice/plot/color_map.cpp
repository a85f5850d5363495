#include "sluice/plot/color_map.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace sluice {
namespace {

// A colour by how it looks: lightness from 0 to 1, strength, hue in degrees. The polar form of Oklab, in
// which equal steps look equal.
struct Shade {
  double light, strength, hue;
};

// Lightness falls evenly; hues avoid red beside green, which many cannot tell apart. Strengths stay inside
// what screens can show.
constexpr Shade kSequential[] = {
    {0.975, 0.045, 105}, {0.800, 0.115, 148}, {0.625, 0.098, 196}, {0.450, 0.100, 240}, {0.275, 0.095, 275}};
constexpr Shade kPale{0.970, 0, 0}, kOrangeEnd{0.450, 0.120, 52}, kBlueEnd{0.450, 0.140, 256};

double between(double from, double to, double share) {
  return from + (to - from) * share;
}

Shade between(const Shade& from, const Shade& to, double share) {
  return {between(from.light, to.light, share), between(from.strength, to.strength, share),
          between(from.hue, to.hue, share)};
}

Shade along(std::span<const Shade> anchors, double share) {
  const double place = share * static_cast<double>(anchors.size() - 1);
  const size_t first = std::min(static_cast<size_t>(place), anchors.size() - 2);
  return between(anchors[first], anchors[first + 1], place - static_cast<double>(first));
}

Shade diverging(double share) {
  const Shade& end = share < 0.5 ? kOrangeEnd : kBlueEnd;
  return between({kPale.light, 0, end.hue}, end, std::abs(2 * share - 1));
}

// The curve of sRGB, from light to what a file holds, and back.
uint8_t encoded(double light) {
  light = std::clamp(light, 0.0, 1.0);
  const double value = light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(255 * value));
}

double decoded(uint8_t part) {
  const double value = part / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

// Oklab's definition (B. Ottosson, 2020): cubes of cone responses, then to the primaries of sRGB.
Color color_of(const Shade& shade) {
  const double angle = shade.hue * std::numbers::pi / 180;
  const double a = shade.strength * std::cos(angle), b = shade.strength * std::sin(angle);
  const auto cube = [](double value) { return value * value * value; };
  const double l = cube(shade.light + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(shade.light - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(shade.light - 0.0894841775 * a - 1.2914855480 * b);
  return {encoded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          encoded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          encoded(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

}  // namespace

Color color_at(ColorMap map, double share) {
  share = std::clamp(share, 0.0, 1.0);
  return color_of(map == ColorMap::Sequential ? along(kSequential, share) : diverging(share));
}

double lightness(Color color) {
  const double luminance =
      0.2126 * decoded(color.red) + 0.7152 * decoded(color.green) + 0.0722 * decoded(color.blue);
  return luminance > 0.008856 ? 116 * std::cbrt(luminance) - 16 : 903.3 * luminance;
}

Color text_color_on(Color background) {
  constexpr double kMiddle = 50;  // where black and white have the same contrast
  return lightness(background) > kMiddle ? Color{0, 0, 0} : Color{255, 255, 255};
}

}  // namespace sluice
