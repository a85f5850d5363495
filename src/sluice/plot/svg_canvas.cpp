#include "sluice/plot/svg_canvas.h"

#include <fmt/format.h>

#include <cmath>

#include "sluice/text/markup.h"

namespace sluice {
namespace {

// Hundredths are finer than any screen; trailing zeros would be a third of the file.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string color(Color color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

// ` fill="#000000" fill-opacity="0.3"`
std::string paint(const char* property, Color ink) {
  std::string text = fmt::format(" {}=\"{}\"", property, color(ink));
  if (ink.opacity < 1) text += fmt::format(" {}-opacity=\"{}\"", property, number(ink.opacity));
  return text;
}

std::string listed(std::span<const Point> points) {
  std::string text;
  for (const Point& point : points) {
    if (!text.empty()) text += ' ';
    text += number(point.x);
    text += ',';
    text += number(point.y);
  }
  return text;
}

const char* anchor_name(Anchor anchor) {
  return anchor == Anchor::Start ? "start" : anchor == Anchor::Middle ? "middle" : "end";
}

}  // namespace

SvgCanvas::SvgCanvas(const Page& page) {
  body_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "role=\"img\" font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif\">\n"
      "<title>{2}</title>\n",
      number(page.width), number(page.height), escaped_markup(printable(page.title)));
}

void SvgCanvas::line(std::span<const Point> points, const Stroke& stroke) {
  body_ += fmt::format("<polyline fill=\"none\"{} stroke-width=\"{}\" stroke-linejoin=\"round\"",
                       paint("stroke", stroke.color), number(stroke.width));
  if (!stroke.dashes.empty()) {
    std::string lengths;
    for (const double each : stroke.dashes)
      lengths += fmt::format("{}{}", lengths.empty() ? "" : " ", number(each));
    body_ += fmt::format(" stroke-dasharray=\"{}\"", lengths);
  }
  body_ += fmt::format(" points=\"{}\"/>\n", listed(points));
}

void SvgCanvas::polygon(std::span<const Point> points, Color fill) {
  body_ += fmt::format("<polygon{} points=\"{}\"/>\n", paint("fill", fill), listed(points));
}

void SvgCanvas::disc(Point centre, double radius, Color fill) {
  body_ += fmt::format("<circle{} cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", paint("fill", fill), number(centre.x),
                       number(centre.y), number(radius));
}

void SvgCanvas::text(Point point, const std::string& text, const TextStyle& style) {
  const std::string x = number(point.x), y = number(point.y);
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}", x, y, number(style.size),
                       paint("fill", style.color));
  if (style.anchor != Anchor::Start) body_ += fmt::format(" text-anchor=\"{}\"", anchor_name(style.anchor));
  if (style.weight == FontWeight::Bold) body_ += " font-weight=\"bold\"";
  if (style.turn == Turn::Left) body_ += fmt::format(" transform=\"rotate(-90 {} {})\"", x, y);
  body_ += fmt::format(">{}</text>\n", escaped_markup(printable(text)));
}

void SvgCanvas::begin_clip(const Box& box) {
  // Unique in the document; a page that holds several figures would need more.
  const std::string id = fmt::format("sluice-clip-{}", ++clips_);
  body_ += fmt::format(
      "<clipPath id=\"{0}\"><rect x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\"/></clipPath>\n"
      "<g clip-path=\"url(#{0})\">\n",
      id, number(box.left), number(box.top), number(box.width), number(box.height));
}

void SvgCanvas::end_clip() {
  body_ += "</g>\n";
}

std::string SvgCanvas::document() const {
  return body_ + "</svg>\n";
}

}  // namespace sluice
