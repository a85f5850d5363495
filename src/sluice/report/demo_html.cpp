#include <fmt/format.h>

#include "sluice/report/demo_report.h"
#include "sluice/text/markup.h"

namespace sluice {
namespace {

// Colours of the reader's own theme, light or dark; only the figure stands on white.
constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Sluice demo: a baseline and two gated models</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid #8886; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid #8886; margin: .5rem 0; padding: .1rem .8rem; }
figure { margin: 0; } figure svg { max-width: 100%; height: auto; background: #fff; }
.note { font-size: .875rem; }
</style>
</head>
<body>
)";

std::string element(const char* tag, const std::string& text) {
  return fmt::format("<{0}>{1}</{0}>", tag, escaped_markup(text));
}

std::string row(const char* tag, const std::vector<std::string>& cells) {
  std::string html = "<tr>";
  for (const std::string& each : cells) html += element(tag, each);
  return html + "</tr>\n";
}

std::string table(const DemoResult& result) {
  std::string html =
      "<div class=\"wide\"><table>\n<thead>" + row("th", demo_columns()) + "</thead>\n<tbody>\n";
  for (const DemoModel& model : result.models) html += row("td", demo_row(model));
  return html + "</tbody>\n</table></div>\n";
}

std::string paragraphs(const std::vector<std::string>& notes) {
  std::string html;
  for (const std::string& note : notes)
    html += fmt::format("<p class=\"note\">{}</p>\n", escaped_markup(note));
  return html;
}

std::string samples(const DemoResult& result) {
  std::string html =
      fmt::format("<h2>What they write after &quot;{}&quot;</h2>\n", escaped_markup(result.prompt));
  for (const DemoModel& model : result.models)
    html += element("h3", model.variant) + "\n" + element("pre", demo_sample(model)) + "\n";
  return html;
}

std::string next_commands(const DemoResult& result) {
  std::string lines;
  for (const std::string& command : demo_next_commands(result)) lines += command + "\n";
  return "<h2>Next</h2>\n" + element("pre", lines) + "\n";
}

}  // namespace

std::string demo_html(const DemoResult& result, const std::string& curves_svg) {
  const RunState& state = result.models.front().outcome.state;
  std::string html = kHead;
  html += "<h1>A baseline and two gated models</h1>\n";
  html += element(
      "p", fmt::format("The same small transformer without a gate, with one gate per head and with one "
                       "per channel of the attention output, each trained for {} steps on the same {} "
                       "tokens of made-up text.",
                       state.step, state.tokens));
  html += fmt::format("\n{}{}<h2>How training went</h2>\n<figure>\n{}</figure>\n{}{}</body>\n</html>\n",
                      table(result), paragraphs(demo_notes(result)), curves_svg, samples(result),
                      next_commands(result));
  return html;
}

}  // namespace sluice
