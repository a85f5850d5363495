// A drawing with a size, and the files it can become.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "sluice/plot/canvas.h"

namespace sluice {

struct Figure {
  double width = 640, height = 400;
  std::string title;  // for screen readers
  std::function<void(Canvas&)> draw;
};

enum class FigureFormat { Svg, Png };

// By the end of the file's name; usage error if that is neither .svg nor .png.
FigureFormat figure_format(const std::filesystem::path& path);

// On white: a figure does not know the page it will stand on.
std::string svg_of(const Figure& figure);
std::string png_of(const Figure& figure);

void write_figure(const std::filesystem::path& path, const Figure& figure);

}  // namespace sluice
