#include "sluice/report/markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/report/report_names.h"
#include "sluice/text/markup.h"
#include "sluice/text/utf8.h"

namespace sluice {
namespace {

constexpr int kDeepestMarkdownHeading = 6;

// Whether a bracket there could be the end of a link's words; elsewhere it is no markup.
bool ends_link_words(std::string_view line, size_t at) {
  return line[at] == ']' && at + 1 < line.size() &&
         std::string_view("([:").find(line[at + 1]) != std::string_view::npos;
}

// One line in which nothing is markup.
std::string literal(const std::string& text) {
  constexpr std::string_view kMarkup = "\\`*_<>|~&";
  const std::string line = printable(text);
  std::string escaped;
  for (size_t i = 0; i < line.size(); ++i) {
    if (kMarkup.find(line[i]) != std::string_view::npos || ends_link_words(line, i)) escaped += '\\';
    escaped += line[i];
  }
  return escaped;
}

// The same between the brackets of a link, where others would end it.
std::string literal_words(const std::string& text) {
  std::string words = printable(text);
  std::ranges::replace(words, '[', '(');
  std::ranges::replace(words, ']', ')');
  return literal(words);
}

// The same where a line begins: a number with a point would be a list, a # a heading, a [ a box to tick.
std::string literal_line(const std::string& text) {
  std::string line = literal(text);
  line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
  const size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  const std::string_view behind = std::string_view(line).substr(digits);
  const bool is_numbered = digits > 0 && (behind.starts_with(". ") || behind.starts_with(") "));
  if (is_numbered) return line.insert(digits, 1, '\\');
  if (!line.empty() && std::string_view("#+-[").find(line[0]) != std::string_view::npos)
    line.insert(0, 1, '\\');
  return line;
}

// A fence that is longer than any inside.
std::string fence_of(const std::string& text) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(std::max<size_t>(3, longest + 1), '`');
}

std::string fenced(const std::string& text) {
  const std::string whole = with_ill_formed_replaced(text), fence = fence_of(whole);
  return fmt::format("{}\n{}{}{}\n\n", fence, whole, whole.empty() || whole.ends_with('\n') ? "" : "\n",
                     fence);
}

std::string markdown_heading(const TableColumn& column) {
  return literal(column.unit.empty() ? column.name : fmt::format("{} ({})", column.name, column.unit));
}

std::string markdown_rows(const Table& table) {
  std::string text = "|", rule = "|";
  for (const TableColumn& column : table.columns) {
    text += fmt::format(" {} |", markdown_heading(column));
    rule += column.kind == ColumnKind::Number ? "---:|" : "---|";
  }
  text += "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (size_t i = 0; i < row.size(); ++i)
      text += fmt::format(" {} |", literal(cell_text(row[i], table.columns[i])));
    text += "\n";
  }
  return text + "\n";
}

struct BlockMarkdown {
  std::string operator()(const Paragraph& block) const { return literal_line(block.text) + "\n\n"; }
  std::string operator()(const Note& block) const {
    return fmt::format("> {}\n\n", literal_line(block.text));
  }

  std::string operator()(const BulletList& block) const {
    std::string text;
    for (const std::string& item : block.items) text += fmt::format("- {}\n", literal_line(item));
    return text + "\n";
  }

  std::string operator()(const Finding& block) const {
    return fmt::format("**{}:** {}\n\n", name_of(block.verdict), literal(block.text));
  }

  std::string operator()(const Preformatted& block) const {
    return (block.label.empty() ? "" : literal_line(block.label) + "\n\n") + fenced(block.text);
  }

  // What is folded on the page is left to the file: Markdown has no folds.
  std::string operator()(const Table& table) const {
    std::string text = table.caption.empty() ? "" : literal_line(table.caption) + "\n\n";
    if (table.view == TableView::Open) text += markdown_rows(table);
    return text + fmt::format("Numbers: [{0}.csv]({0}.csv)\n\n", table.name);
  }

  std::string operator()(const ReportFigure& figure) const {
    return fmt::format("![{}]({}.svg)\n\n{}", literal_words(figure.figure.title), figure.stem,
                       figure.caption.empty() ? "" : literal_line(figure.caption) + "\n\n");
  }
};

std::string blocks_markdown(const std::vector<ReportBlock>& blocks) {
  std::string text;
  for (const ReportBlock& block : blocks) text += std::visit(BlockMarkdown{}, block);
  return text;
}

std::string sections_markdown(const std::vector<Section>& sections, int level) {
  std::string text;
  for (const Section& section : sections) {
    const std::string marks(static_cast<size_t>(std::min(level, kDeepestMarkdownHeading)), '#');
    text += fmt::format("{} {}\n\n", marks, literal(section.title));
    text += blocks_markdown(section.blocks) + sections_markdown(section.subsections, level + 1);
  }
  return text;
}

std::string header_markdown(const ReportHeader& header) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) text += fmt::format("- {}: {}\n", literal(name), literal(value));
  };
  add("command", header.command);
  add("sluice", header.version);
  for (const ReportSource& source : header.sources)
    add(source.role,
        source.checksum.empty() ? source.name : fmt::format("{} ({})", source.name, source.checksum));
  add("machine", header.machine);
  add("time", header.time);
  if (header.seconds) add("seconds", fmt::format("{:.1f}", *header.seconds));
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string markdown_of(const Report& report) {
  const Report named = with_unique_names(report);
  std::string text = fmt::format("# {}\n\n{}{}{}", literal(named.title), blocks_markdown(named.summary),
                                 header_markdown(named.header), sections_markdown(named.sections, 2));
  text.pop_back();  // the empty line behind the last block
  return text;
}

}  // namespace sluice
