#include "sluice/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/base/assert.h"
#include "sluice/base/csv.h"

namespace sluice {
namespace {

// All digits, so that reading it back gives the same number; also what is beyond all numbers, which is worse
// than any, where what was not measured is left empty.
std::string exact_text(double value) {
  return std::isnan(value) ? "" : fmt::format("{}", value);
}

struct CellText {
  const TableColumn& column;

  std::string operator()(Missing) const { return "–"; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(int64_t value) const { return integer_text(value); }
  std::string operator()(double value) const { return number_text(value, column.format); }
  std::string operator()(const Estimate& estimate) const { return number_text(estimate, column.format); }
};

struct CsvText {
  std::string operator()(Missing) const { return ""; }
  std::string operator()(const std::string& text) const { return csv_cell(text); }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return exact_text(value); }
  std::string operator()(const Estimate& estimate) const { return exact_text(estimate.value); }
};

std::string csv_key(const TableColumn& column) {
  return column.key.empty() ? column.name : column.key;
}

bool has_intervals(const Table& table, size_t column) {
  return std::ranges::any_of(table.rows,
                             [&](const auto& row) { return interval_of(row[column]) != nullptr; });
}

std::string csv_interval(const TableCell& cell) {
  const Interval* interval = interval_of(cell);
  if (interval == nullptr) return ",,";
  return fmt::format(",{},{}", exact_text(interval->low), exact_text(interval->high));
}

}  // namespace

bool is_missing(const TableCell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return !std::isfinite(*number);
  if (const auto* estimate = std::get_if<Estimate>(&cell)) return !std::isfinite(estimate->value);
  return std::holds_alternative<Missing>(cell);
}

const Interval* interval_of(const TableCell& cell) {
  const auto* estimate = std::get_if<Estimate>(&cell);
  return estimate != nullptr && estimate->ci95 ? &*estimate->ci95 : nullptr;
}

std::string cell_text(const TableCell& cell, const TableColumn& column) {
  return std::visit(CellText{column}, cell);
}

std::string csv_of(const Table& table) {
  for (const auto& row : table.rows)
    SLUICE_ASSERT(row.size() == table.columns.size(), "csv_of: {}: a row of {} cells for {} columns",
                  table.name, row.size(), table.columns.size());
  std::vector<bool> with_interval;
  std::string text;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    with_interval.push_back(has_intervals(table, i));
    const std::string key = csv_key(table.columns[i]);
    text += (i == 0 ? "" : ",") + csv_cell(key);
    if (with_interval[i]) text += "," + csv_cell(key + "_low") + "," + csv_cell(key + "_high");
  }
  text += "\n";
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += (i == 0 ? "" : ",") + std::visit(CsvText{}, row[i]);
      if (with_interval[i]) text += csv_interval(row[i]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace sluice
