// A table as HTML: rounded for the eye, with the whole number for sorting and its CSV for saving.
#include <fmt/format.h>

#include <algorithm>

#include "sluice/report/html_blocks.h"
#include "sluice/text/markup.h"

namespace sluice {
namespace {

std::string heading_html(const TableColumn& column) {
  std::string html = "<th scope=\"col\"";
  if (column.kind == ColumnKind::Number) html += " class=\"number\"";
  if (!column.note.empty()) html += fmt::format(" title=\"{}\"", escaped_markup(column.note));
  html += ">" + escaped_markup(column.name);
  if (!column.unit.empty())
    html += fmt::format("<span class=\"unit\">{}</span>", escaped_markup(column.unit));
  return html + "</th>";
}

// What the page sorts by; empty if there is no number.
std::string sort_value(const TableCell& cell) {
  if (is_missing(cell)) return "";
  if (const auto* integer = std::get_if<int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  if (const auto* estimate = std::get_if<Estimate>(&cell)) return fmt::format("{}", estimate->value);
  return "";
}

std::string cell_html(const TableCell& cell, const TableColumn& column) {
  std::string html = "<td";
  if (column.kind == ColumnKind::Number) html += " class=\"number\"";
  if (const std::string value = sort_value(cell); !value.empty())
    html += fmt::format(" data-value=\"{}\"", value);
  std::string text = escaped_markup(cell_text(cell, column));
  if (interval_of(cell) != nullptr)
    text.replace(text.find(" ["), 1, " <span class=\"interval\">").append("</span>");
  return html + ">" + text + "</td>";
}

std::string rows_html(const Table& table) {
  std::string html = "<table>\n<thead><tr>";
  for (const TableColumn& column : table.columns) html += heading_html(column);
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) html += cell_html(row[i], table.columns[i]);
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>";
}

// Fingers cannot point at a heading without a click, and paper not at all.
std::string columns_html(const Table& table) {
  std::string html;
  for (const TableColumn& column : table.columns)
    if (!column.note.empty())
      html +=
          fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped_markup(column.name), escaped_markup(column.note));
  if (html.empty()) return "";
  return "<details class=\"legend\"><summary>What the columns mean</summary>\n<dl class=\"columns\">\n" +
         html + "</dl></details>\n";
}

std::string caption_html(const Table& table) {
  const std::string caption = escaped_markup(table.caption);
  if (table.view == TableView::Open) return caption;
  return fmt::format("{}{}{} {}", caption, caption.empty() ? "" : " – ", integer_text(std::ssize(table.rows)),
                     table.rows.size() == 1 ? "row" : "rows");
}

std::string shown_html(const Table& table) {
  const std::string box =
      fmt::format("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</div>\n{}",
                  escaped_markup(table.caption.empty() ? table.name : table.caption), rows_html(table),
                  columns_html(table));
  const std::string caption = caption_html(table);
  switch (table.view) {
    case TableView::Open:
      break;
    case TableView::Folded:
      return fmt::format("<details><summary>{}</summary>\n{}</details>\n", caption, box);
    case TableView::FileOnly:
      return fmt::format("<figcaption>{}, in {}.csv</figcaption>\n", caption, escaped_markup(table.name));
  }
  return (caption.empty() ? "" : fmt::format("<figcaption>{}</figcaption>\n", caption)) + box;
}

}  // namespace

std::string table_html(const Table& table) {
  return fmt::format(
      "<figure class=\"table\" id=\"table-{0}\" data-name=\"{0}\">\n{1}<template>{2}</template>\n</figure>\n",
      escaped_markup(table.name), shown_html(table), escaped_markup(csv_of(table)));
}

}  // namespace sluice
