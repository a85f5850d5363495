#include "sluice/plot/svg_canvas.h"

#include <fmt/format.h>

#include <cmath>

#include "sluice/plot/indexed_png.h"
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

// ` fill="none" stroke="#000000" stroke-width="1" stroke-linejoin="round" stroke-dasharray="2 2"`
std::string paint(const Stroke& stroke) {
  std::string text = fmt::format(" fill=\"none\"{} stroke-width=\"{}\" stroke-linejoin=\"round\"",
                                 paint("stroke", stroke.color), number(stroke.width));
  if (stroke.dashes.empty()) return text;
  std::string lengths;
  for (const double each : stroke.dashes)
    lengths += fmt::format("{}{}", lengths.empty() ? "" : " ", number(each));
  return text + fmt::format(" stroke-dasharray=\"{}\"", lengths);
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
  body_ += fmt::format("<polyline{} points=\"{}\"/>\n", paint(stroke), listed(points));
}

void SvgCanvas::segments(std::span<const Segment> segments, const Stroke& stroke) {
  if (segments.empty()) return;
  std::string path;
  for (const auto& [from, to] : segments)
    path += fmt::format("M{} {}L{} {}", number(from.x), number(from.y), number(to.x), number(to.y));
  body_ += fmt::format("<path{} d=\"{}\"/>\n", paint(stroke), path);
}

void SvgCanvas::polygon(std::span<const Point> points, Color fill) {
  body_ += fmt::format("<polygon{} points=\"{}\"/>\n", paint("fill", fill), listed(points));
}

void SvgCanvas::disc(Point centre, double radius, Color fill) {
  body_ += fmt::format("<circle{} cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", paint("fill", fill), number(centre.x),
                       number(centre.y), number(radius));
}

void SvgCanvas::image(const Box& box, const IndexedImage& image) {
  body_ += fmt::format(
      "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
      "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
      number(box.left), number(box.top), number(box.width), number(box.height), base64(encoded_png(image)));
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

// Named after what it shows: where a page holds several figures, equal names mean equal boxes.
void SvgCanvas::begin_clip(const Box& box) {
  const std::string left = number(box.left), top = number(box.top);
  const std::string width = number(box.width), height = number(box.height);
  const std::string id = fmt::format("sluice-clip-{}-{}-{}-{}", left, top, width, height);
  if (clips_.insert(id).second)
    body_ +=
        fmt::format("<clipPath id=\"{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
                    id, left, top, width, height);
  body_ += fmt::format("<g clip-path=\"url(#{})\">\n", id);
}

void SvgCanvas::end_clip() {
  body_ += "</g>\n";
}

std::string SvgCanvas::document() const {
  return body_ + "</svg>\n";
}

}  // namespace sluice
