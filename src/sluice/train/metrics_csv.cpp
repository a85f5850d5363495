#include "sluice/train/metrics_csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/atomic_file.h"
#include "sluice/base/csv.h"
#include "sluice/base/file_system.h"

namespace sluice {

void MetricsTable::add_columns(const MetricsLine& line) {
  for (const Metric& number : line.numbers) {
    if (std::ranges::find(columns_, number.name) == columns_.end()) columns_.push_back(number.name);
  }
}

std::string MetricsTable::header() const {
  std::string text = "step";
  for (const std::string& column : columns_) text.append(",").append(csv_cell(column));
  return text + '\n';
}

std::string MetricsTable::row(const MetricsLine& line) const {
  std::string text = std::to_string(line.step);
  for (const std::string& column : columns_) {
    const auto number = std::ranges::find(line.numbers, column, &Metric::name);
    text.append(",").append(number == line.numbers.end() ? "" : number->text);
  }
  return text + '\n';
}

void MetricsTable::append(const MetricsLine& line) {
  const bool is_first = columns_.empty();
  if (is_first) add_columns(line);
  if (!file_) file_.emplace(path_);
  file_->append(is_first ? fmt::format("{}{}", header(), row(line)) : row(line));
}

void MetricsTable::rewrite(std::span<const MetricsLine> lines) {
  file_.reset();  // of the old content
  columns_.clear();
  for (const MetricsLine& line : lines) add_columns(line);
  if (lines.empty()) {
    std::error_code error;
    std::filesystem::remove(path_, error);
    if (error) throw system_failure(path_, "cannot remove", error);
    return;
  }
  std::string text = header();
  for (const MetricsLine& line : lines) text += row(line);
  write_file_atomically(path_, text);
}

MetricsCsv::MetricsCsv(const std::filesystem::path& directory)
    : steps_(directory / "train.csv"), validations_(directory / "validation.csv") {}

void MetricsCsv::append(const MetricsLine& line) {
  (line.kind == MetricsKind::Step ? steps_ : validations_).append(line);
}

void MetricsCsv::rewrite(std::span<const MetricsLine> lines) {
  std::vector<MetricsLine> steps, validations;
  for (const MetricsLine& line : lines)
    (line.kind == MetricsKind::Step ? steps : validations).push_back(line);
  steps_.rewrite(steps);
  validations_.rewrite(validations);
}

}  // namespace sluice
