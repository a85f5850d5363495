#include "sluice/plot/png_canvas.h"

#include <cairo.h>

#include <cmath>
#include <numbers>

#include "sluice/base/error.h"
#include "sluice/text/markup.h"

namespace sluice {
namespace {

void set_color(cairo_t* cairo, Color color) {
  cairo_set_source_rgba(cairo, color.red / 255.0, color.green / 255.0, color.blue / 255.0, color.opacity);
}

cairo_status_t append(void* target, const unsigned char* bytes, unsigned int count) {
  try {
    static_cast<std::string*>(target)->append(reinterpret_cast<const char*>(bytes), count);
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_NO_MEMORY;  // no exception may pass through C
  }
  return CAIRO_STATUS_SUCCESS;
}

int pixels(double units, double per_unit) {
  return static_cast<int>(std::ceil(units * per_unit));
}

// The same pixels whatever the desktop's settings for letters are.
void set_font_options(cairo_t* cairo) {
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_set_font_options(cairo, options);
  cairo_font_options_destroy(options);
}

uint32_t argb(Color color) {
  if (color.opacity == 0) return 0;
  return 0xff000000U | static_cast<uint32_t>(color.red) << 16 | static_cast<uint32_t>(color.green) << 8 |
         color.blue;
}

// With the pixels in Cairo's own layout.
std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface_of(const IndexedImage& image) {
  std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface(
      cairo_image_surface_create(CAIRO_FORMAT_ARGB32, static_cast<int>(image.width),
                                 static_cast<int>(image.height)),
      cairo_surface_destroy);
  unsigned char* row = cairo_image_surface_get_data(surface.get());
  if (row == nullptr) return surface;  // its status says why
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (size_t y = 0; y < image.height; ++y, row += stride)
    for (size_t x = 0; x < image.width; ++x)
      reinterpret_cast<uint32_t*>(row)[x] = argb(image.palette[image.pixels[y * image.width + x]]);
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

}  // namespace

PngCanvas::PngCanvas(const Page& page)
    : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(page.width, page.pixels_per_unit),
                                          pixels(page.height, page.pixels_per_unit)),
               cairo_surface_destroy),
      cairo_(cairo_create(surface_.get()), cairo_destroy) {
  check();
  cairo_scale(cairo_.get(), page.pixels_per_unit, page.pixels_per_unit);
  cairo_set_line_join(cairo_.get(), CAIRO_LINE_JOIN_ROUND);
  set_font_options(cairo_.get());
}

void PngCanvas::path(std::span<const Point> points) {
  cairo_new_path(cairo_.get());
  for (const Point& point : points) cairo_line_to(cairo_.get(), point.x, point.y);
}

void PngCanvas::line(std::span<const Point> points, const Stroke& stroke) {
  path(points);
  set_color(cairo_.get(), stroke.color);
  cairo_set_line_width(cairo_.get(), stroke.width);
  cairo_set_dash(cairo_.get(), stroke.dashes.data(), static_cast<int>(stroke.dashes.size()), 0);
  cairo_stroke(cairo_.get());
}

void PngCanvas::polygon(std::span<const Point> points, Color fill) {
  path(points);
  cairo_close_path(cairo_.get());
  set_color(cairo_.get(), fill);
  cairo_fill(cairo_.get());
}

void PngCanvas::disc(Point centre, double radius, Color fill) {
  cairo_new_path(cairo_.get());
  cairo_arc(cairo_.get(), centre.x, centre.y, radius, 0, 2 * std::numbers::pi);
  set_color(cairo_.get(), fill);
  cairo_fill(cairo_.get());
}

void PngCanvas::image(const Box& box, const IndexedImage& image) {
  const auto surface = surface_of(image);
  cairo_t* cairo = cairo_.get();
  cairo_save(cairo);
  cairo_translate(cairo, box.left, box.top);
  cairo_scale(cairo, box.width / static_cast<double>(image.width),
              box.height / static_cast<double>(image.height));
  cairo_set_source_surface(cairo, surface.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
  cairo_rectangle(cairo, 0, 0, static_cast<double>(image.width), static_cast<double>(image.height));
  cairo_fill(cairo);
  cairo_restore(cairo);
}

void PngCanvas::text(Point point, const std::string& text, const TextStyle& style) {
  const std::string shown = printable(text);
  cairo_t* cairo = cairo_.get();
  cairo_select_font_face(
      cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
      style.weight == FontWeight::Bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo, style.size);
  cairo_text_extents_t extents;
  cairo_text_extents(cairo, shown.c_str(), &extents);
  const double shares[] = {0, 0.5, 1};
  cairo_save(cairo);
  cairo_translate(cairo, point.x, point.y);
  if (style.turn == Turn::Left) cairo_rotate(cairo, -std::numbers::pi / 2);
  cairo_move_to(cairo, -shares[static_cast<int>(style.anchor)] * extents.x_advance, 0);
  set_color(cairo, style.color);
  cairo_show_text(cairo, shown.c_str());
  cairo_restore(cairo);
}

void PngCanvas::begin_clip(const Box& box) {
  cairo_save(cairo_.get());
  cairo_rectangle(cairo_.get(), box.left, box.top, box.width, box.height);
  cairo_clip(cairo_.get());
}

void PngCanvas::end_clip() {
  cairo_restore(cairo_.get());
}

void PngCanvas::check() const {
  const cairo_status_t status = cairo_status(cairo_.get());
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw failure({.where = "figure", .what = "cannot paint", .got = cairo_status_to_string(status)});
}

std::string PngCanvas::document() {
  check();
  std::string bytes;
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface_.get(), append, &bytes);
  if (status == CAIRO_STATUS_SUCCESS) return bytes;
  throw failure({.where = "figure", .what = "cannot encode as PNG", .got = cairo_status_to_string(status)});
}

}  // namespace sluice
