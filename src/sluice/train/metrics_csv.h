// metrics.jsonl as tables: train.csv with a row per step, validation.csv with a row per validation. Two
// files, because the two have different columns and one table would be mostly holes.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sluice/base/appended_file.h"
#include "sluice/train/metrics.h"

namespace sluice {

// One of the tables. Its first line names its columns, which stay: a table cannot grow a column without a new
// file. A line without a column's number leaves the cell empty; a number without a column is left to
// metrics.jsonl until the table is rewritten.
class MetricsTable {
 public:
  explicit MetricsTable(std::filesystem::path path) : path_(std::move(path)) {}

  void append(const MetricsLine& line);

  // Replaces the file by these lines, with a column for every number in them.
  void rewrite(std::span<const MetricsLine> lines);

 private:
  void add_columns(const MetricsLine& line);
  std::string header() const;
  std::string row(const MetricsLine& line) const;

  std::filesystem::path path_;
  std::vector<std::string> columns_;
  std::optional<AppendedFile> file_;
};

class MetricsCsv {
 public:
  explicit MetricsCsv(const std::filesystem::path& directory);

  void append(const MetricsLine& line);
  void rewrite(std::span<const MetricsLine> lines);

 private:
  MetricsTable steps_, validations_;
};

}  // namespace sluice
