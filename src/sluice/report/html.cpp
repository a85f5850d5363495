#include "sluice/report/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/assert.h"
#include "sluice/base/sha256.h"
#include "sluice/report/html_blocks.h"
#include "sluice/report/page_files.h"
#include "sluice/report/report_names.h"
#include "sluice/text/markup.h"

namespace sluice {
namespace {

constexpr int kDeepestHeading = 6;

std::string_view page_file(std::string_view name) {
  const auto found = std::ranges::find(page_files(), name, &PageFile::name);
  SLUICE_ASSERT(found != page_files().end(), "html_of: no file {}", name);
  return found->text;
}

// Nothing is loaded, whatever the report says: only the style and the script that stand in the page are
// taken, the script by its hash, and pictures that the script makes (a figure on its way to PNG).
std::string head_html(const Report& report) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>\n{}</style>\n</head>\n<body>\n",
      base64_of(sha256(page_file("script"))), escaped_markup(report.title), page_file("style"));
}

std::string about_row(const char* name, const std::string& value) {
  if (value.empty()) return "";
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, escaped_markup(value));
}

std::string source_row(const ReportSource& source) {
  return fmt::format(
      "<dt>{}</dt><dd>{}{}</dd>\n", escaped_markup(source.role), escaped_markup(source.name),
      source.checksum.empty() ? "" : fmt::format(" <code>{}</code>", escaped_markup(source.checksum)));
}

std::string about_html(const ReportHeader& header) {
  std::string rows;
  if (!header.command.empty())
    rows += fmt::format("<dt>command</dt><dd><code>{}</code></dd>\n", escaped_markup(header.command));
  rows += about_row("sluice", header.version);
  for (const ReportSource& source : header.sources) rows += source_row(source);
  rows += about_row("machine", header.machine);
  std::string time = header.time;
  if (header.seconds) time += fmt::format("{}took {:.1f} s", time.empty() ? "" : ", ", *header.seconds);
  rows += about_row("time", time);
  return rows.empty() ? "" : "<dl class=\"about\">\n" + rows + "</dl>\n";
}

std::string contents_list(const std::vector<Section>& sections) {
  std::string html = "<ul>\n";
  for (const Section& section : sections) {
    html += fmt::format("<li><a href=\"#{}\">{}</a>", section.anchor, escaped_markup(section.title));
    if (!section.subsections.empty()) html += "\n" + contents_list(section.subsections);
    html += "</li>\n";
  }
  return html + "</ul>\n";
}

std::string contents_html(const Report& report) {
  return "<nav aria-label=\"Contents\">\n<strong>Contents</strong>\n" + contents_list(report.sections) +
         "</nav>\n";
}

// Goes through the tree once; figures are numbered on the way.
class BodyWriter {
 public:
  std::string blocks(const std::vector<ReportBlock>& blocks) {
    std::string html;
    for (const ReportBlock& block : blocks) html += block_html(block, figures_);
    return html;
  }

  std::string sections(const std::vector<Section>& sections, int level) {
    std::string html;
    for (const Section& section : sections) {
      html += fmt::format(
          "<section id=\"{0}\">\n<h{1}>{2}<a class=\"anchor\" href=\"#{0}\" aria-label=\"Link to this "
          "section\">#</a></h{1}>\n",
          section.anchor, std::min(level, kDeepestHeading), escaped_markup(section.title));
      html += blocks(section.blocks);
      html += this->sections(section.subsections, level + 1);
      html += "</section>\n";
    }
    return html;
  }

 private:
  int figures_ = 0;
};

}  // namespace

std::string html_of(const Report& report) {
  const Report named = with_unique_names(report);
  BodyWriter body;
  std::string html = head_html(named);
  html += fmt::format("<header>\n<h1>{}</h1>\n{}{}</header>\n", escaped_markup(named.title),
                      body.blocks(named.summary), about_html(named.header));
  if (named.sections.size() > 1) html += contents_html(named);
  html += "<main>\n" + body.sections(named.sections, 2) + "</main>\n";
  return html + fmt::format("<script>{}</script>\n</body>\n</html>\n", page_file("script"));
}

}  // namespace sluice
