#include "sluice/plot/figure.h"

#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"
#include "sluice/plot/png_canvas.h"
#include "sluice/plot/svg_canvas.h"

namespace sluice {
namespace {

constexpr Color kWhite{255, 255, 255};

void draw_on(Canvas& canvas, const Figure& figure) {
  canvas.rectangle({0, 0, figure.width, figure.height}, kWhite);
  figure.draw(canvas);
}

}  // namespace

FigureFormat figure_format(const std::filesystem::path& path) {
  const std::string end = path.extension().string();
  if (end == ".svg") return FigureFormat::Svg;
  if (end == ".png") return FigureFormat::Png;
  throw usage_error({.where = path.string(),
                     .what = "not a kind of figure",
                     .expected = "a name that ends in .svg or .png"});
}

std::string svg_of(const Figure& figure) {
  SvgCanvas canvas({.width = figure.width, .height = figure.height, .title = figure.title});
  draw_on(canvas, figure);
  return canvas.document();
}

std::string png_of(const Figure& figure) {
  PngCanvas canvas({.width = figure.width, .height = figure.height});
  draw_on(canvas, figure);
  return canvas.document();
}

void write_figure(const std::filesystem::path& path, const Figure& figure) {
  const bool is_svg = figure_format(path) == FigureFormat::Svg;
  write_file_atomically(path, is_svg ? svg_of(figure) : png_of(figure));
}

}  // namespace sluice
