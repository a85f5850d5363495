#include "sluice/report/terminal_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

using TextRow = std::vector<std::string>;

constexpr size_t kGap = 2;  // between columns

std::string terminal_cell(const TableCell& cell, const TableColumn& column) {
  if (is_missing(cell)) return "-";
  if (const auto* integer = std::get_if<int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&cell))
    return fmt::format("{:.{}f}", *number, column.format.digits);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return cell_text(cell, column);
}

std::vector<TextRow> text_rows(const Table& table) {
  std::vector<TextRow> rows(1);
  for (const TableColumn& column : table.columns) rows.front().push_back(column.name);
  for (const auto& cells : table.rows) {
    TextRow& row = rows.emplace_back();
    for (size_t i = 0; i < cells.size(); ++i) row.push_back(terminal_cell(cells[i], table.columns[i]));
  }
  return rows;
}

size_t widest(const std::vector<TextRow>& rows, size_t column) {
  size_t width = 0;
  for (const TextRow& row : rows) width = std::max(width, row[column].size());
  return width;
}

}  // namespace

std::string terminal_table(const Table& table) {
  const std::vector<TextRow> rows = text_rows(table);
  std::string text;
  for (const TextRow& row : rows) {
    text += fmt::format("{:<{}}", row[0], widest(rows, 0));
    for (size_t i = 1; i < row.size(); ++i) text += fmt::format("{:>{}}", row[i], widest(rows, i) + kGap);
    text += "\n";
  }
  return text;
}

}  // namespace sluice
