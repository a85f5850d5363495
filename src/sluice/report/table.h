// A table of a report: columns that say what they hold, and typed cells, so that the page can round and sort
// them while CSV and JSON have every digit.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sluice/report/number_text.h"

namespace sluice {

// Was not measured, or cannot be: an ungated model has no mean gate. Sorted last.
struct Missing {};

// A number that is not finite counts as missing.
using TableCell = std::variant<Missing, std::string, int64_t, double, Estimate>;

enum class ColumnKind { Text, Number };

struct TableColumn {
  std::string name;       // as people read it: "mean gate"
  std::string key = {};   // in CSV and JSON: "gate_mean"; empty: the name
  std::string unit = {};  // "nats per token"
  std::string note = {};  // what it means, shown when one points at the name
  ColumnKind kind = ColumnKind::Number;
  NumberFormat format = {};
};

// On the page. All of them have their CSV.
enum class TableView {
  Open,
  Folded,   // opened by a click: the numbers behind a figure
  FileOnly  // too long for a page; the button beside the figure still saves it
};

struct Table {
  std::string name;          // of its CSV, without the ending
  std::string caption = {};  // what the rows are, n, and the unit if all columns share it
  std::vector<TableColumn> columns = {};
  std::vector<std::vector<TableCell>> rows = {};  // as many cells in each as there are columns
  TableView view = TableView::Open;
};

bool is_missing(const TableCell& cell);

// Null if the cell has none.
const Interval* interval_of(const TableCell& cell);

// As people read it.
std::string cell_text(const TableCell& cell, const TableColumn& column);

// A header line and a line per row, as RFC 4180 has them but for the line end, which is "\n". Numbers have
// all their digits; what is missing is empty, what is infinite "inf" or "-inf". A column with intervals
// becomes three: KEY, KEY_low, KEY_high.
std::string csv_of(const Table& table);

}  // namespace sluice
