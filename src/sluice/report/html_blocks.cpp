#include "sluice/report/html_blocks.h"

#include <fmt/format.h>

#include "sluice/text/markup.h"

namespace sluice {
namespace {

// Signs besides words and colours, for those who look at the page quickly or see no colours.
const char* sign_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Higher:
      return "▲";
    case Verdict::Lower:
      return "▼";
    case Verdict::Equivalent:
      return "≈";
    case Verdict::Undecided:
      break;
  }
  return "?";
}

// A quotation mark in a text is escaped, so these can only be attributes.
std::string with_ids_of(std::string svg, int number) {
  if (number == 0) return svg;
  for (const char* mark : {" id=\"", "=\"url(#"}) {
    const std::string prefix = fmt::format("{}f{}-", mark, number);
    for (size_t at = 0; (at = svg.find(mark, at)) != std::string::npos; at += prefix.size())
      svg.replace(at, std::string_view(mark).size(), prefix);
  }
  return svg;
}

// A figure fills its column within limits: larger it looks coarse, smaller its letters cannot be read, and it
// is moved inside its box instead.
std::string sheet_style(const Figure& figure) {
  constexpr double kSmallest = 0.8, kLargest = 1.4;
  return fmt::format("min-width:{:.0f}px;max-width:{:.0f}px", kSmallest * figure.width,
                     kLargest * figure.width);
}

std::string drawing_html(const ReportFigure& figure, int number) {
  const std::string table =
      figure.table.empty() ? "" : fmt::format(" data-table=\"{}\"", escaped_markup(figure.table));
  const std::string caption =
      figure.caption.empty() ? ""
                             : fmt::format("<figcaption>{}</figcaption>\n", escaped_markup(figure.caption));
  return fmt::format(
             "<figure class=\"drawing\" id=\"figure-{0}\" data-stem=\"{0}\"{1}>\n<div class=\"wide\" "
             "tabindex=\"0\" "
             "role=\"region\" aria-label=\"{2}\"><div class=\"sheet\" style=\"{3}\">\n",
             escaped_markup(figure.stem), table, escaped_markup(figure.figure.title),
             sheet_style(figure.figure)) +
         with_ids_of(svg_of(figure.figure), number) + "</div></div>\n" + caption + "</figure>\n";
}

struct BlockHtml {
  int& figures;

  std::string operator()(const Paragraph& block) const {
    return fmt::format("<p>{}</p>\n", escaped_markup(block.text));
  }

  std::string operator()(const Note& block) const {
    return fmt::format("<p class=\"note\">{}</p>\n", escaped_markup(block.text));
  }

  std::string operator()(const BulletList& block) const {
    std::string html = "<ul>\n";
    for (const std::string& item : block.items) html += fmt::format("<li>{}</li>\n", escaped_markup(item));
    return html + "</ul>\n";
  }

  std::string operator()(const Finding& block) const {
    return fmt::format(
        "<p class=\"finding\"><span class=\"verdict {0}\"><span aria-hidden=\"true\">{1}</span> {0}</span> "
        "{2}</p>\n",
        name_of(block.verdict), sign_of(block.verdict), escaped_markup(block.text));
  }

  std::string operator()(const Preformatted& block) const {
    const std::string label =
        block.label.empty() ? "" : fmt::format("<p class=\"label\">{}</p>\n", escaped_markup(block.label));
    // The first line end in this element does not count.
    const char* lost = block.text.starts_with('\n') ? "\n" : "";
    return fmt::format("{}<pre>{}{}</pre>\n", label, lost, escaped_markup(block.text));
  }

  std::string operator()(const Table& table) const { return table_html(table); }
  std::string operator()(const ReportFigure& figure) const { return drawing_html(figure, figures++); }
};

}  // namespace

std::string block_html(const ReportBlock& block, int& figures) {
  return std::visit(BlockHtml{figures}, block);
}

}  // namespace sluice
