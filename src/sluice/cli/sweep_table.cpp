#include "sluice/cli/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sluice/ablate/statistics.h"
#include "sluice/base/atomic_file.h"
#include "sluice/base/csv.h"

namespace sluice::cli {
namespace {

using nlohmann::ordered_json;

// A figure of the last validation, as a column.
struct Column {
  const char* key;
  const char* title;
  int digits;
};

constexpr Column kColumns[] = {
    {"validation_loss", "val. loss", 4}, {"validation_ppl", "val. ppl", 3}, {"sink", "sink", 4},
    {"max_activation", "max act", 2},    {"gate_mean", "gate mean", 4},     {"gate_below_0.1", "< 0.1", 4}};

// None if the run does not have it: a baseline has no gates, and a perplexity may be beyond all numbers.
std::optional<double> figure(const SweepRun& run, const char* key) {
  const auto found = run.outcome.figures.find(key);
  if (found == run.outcome.figures.end() || !found->is_number()) return {};
  return found->get<double>();
}

std::optional<MeanInterval> over_seeds(const std::vector<SweepRun>& runs, const char* key) {
  std::vector<double> values;
  for (const SweepRun& run : runs) {
    if (const auto value = figure(run, key)) values.push_back(*value);
  }
  if (values.empty()) return {};
  return mean_interval(values);
}

int64_t diverged(const std::vector<SweepRun>& runs) {
  return std::ranges::count_if(runs, &SweepRun::diverged);
}

int64_t spikes(const std::vector<SweepRun>& runs) {
  int64_t sum = 0;
  for (const SweepRun& run : runs) sum += run.outcome.state.losses.spikes;
  return sum;
}

std::string cell(const std::optional<MeanInterval>& interval, int digits) {
  if (!interval) return "-";
  const std::string mean = fmt::format("{:.{}f}", interval->mean, digits);
  return interval->half_width ? fmt::format("{} ± {:.{}f}", mean, *interval->half_width, digits) : mean;
}

// fmt counts bytes in a width, and ± has two.
std::string right(const std::string& text, size_t width) {
  const auto characters = static_cast<size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
  return std::string(characters < width ? width - characters : 0, ' ') + text;
}

ordered_json run_json(const SweepRun& run) {
  const RunState& state = run.outcome.state;
  if (run.diverged) return {{"seed", run.seed}, {"directory", run.directory}, {"diverged", true}};
  return {{"seed", run.seed},
          {"directory", run.directory},
          {"diverged", false},
          {"steps", state.step},
          {"tokens", state.tokens},
          {"spikes", state.losses.spikes},
          {"validation", run.outcome.figures},
          {"timing", {{"tokens_per_s", run.outcome.tokens_per_s()}, {"seconds", state.seconds}}}};
}

}  // namespace

SweepTable::SweepTable(std::vector<GridPoint> points) {
  for (GridPoint& point : points) rows_.push_back({std::move(point), {}});
}

void SweepTable::add(size_t point, const SweepRun& run) {
  rows_.at(point).runs.push_back(run);
}

std::string SweepTable::text() const {
  constexpr size_t kWidth = 19;
  size_t names = 7;
  for (const Row& row : rows_) names = std::max(names, row.point.name().size());
  std::string text = fmt::format("{:<{}}{:>6}", "variant", names, "runs");
  for (const Column& column : kColumns) text += right(column.title, kWidth);
  text += right("spikes", 8) + right("diverged", 10) + "\n";
  for (const Row& row : rows_) {
    text += fmt::format("{:<{}}{:>6}", row.point.name(), names, row.runs.size());
    for (const Column& column : kColumns)
      text += right(cell(over_seeds(row.runs, column.key), column.digits), kWidth);
    text += fmt::format("{:>8}{:>10}\n", spikes(row.runs), diverged(row.runs));
  }
  return text +
         "\n±: half of the 95 % interval over seeds (Student's t). Figures are of each run's last "
         "validation.\n";
}

ordered_json SweepTable::json() const {
  ordered_json points = ordered_json::array();
  for (const Row& row : rows_) {
    ordered_json json = {{"name", row.point.name()}, {"changes", row.point.changes}};
    for (const Column& column : kColumns) {
      const std::optional<MeanInterval> interval = over_seeds(row.runs, column.key);
      if (!interval) continue;
      json[column.key] = {
          {"mean", interval->mean},
          {"half_width", interval->half_width ? ordered_json(*interval->half_width) : nullptr},
          {"count", interval->count}};
    }
    json["spikes"] = spikes(row.runs);
    json["diverged"] = diverged(row.runs);
    json["runs"] = ordered_json::array();
    for (const SweepRun& run : row.runs) json["runs"].push_back(run_json(run));
    points.push_back(std::move(json));
  }
  return {{"points", points}};
}

// A line per run, for tables made elsewhere.
std::string SweepTable::csv() const {
  std::string text = "variant,seed";
  for (const Column& column : kColumns) text += fmt::format(",{}", column.key);
  text += ",spikes,diverged\n";
  for (const Row& row : rows_) {
    for (const SweepRun& run : row.runs) {
      text += fmt::format("{},{}", csv_cell(row.point.name()), run.seed);
      for (const Column& column : kColumns) {
        const std::optional<double> value = figure(run, column.key);
        text += value ? fmt::format(",{}", *value) : ",";
      }
      text += fmt::format(",{},{}\n", run.outcome.state.losses.spikes, run.diverged ? 1 : 0);
    }
  }
  return text;
}

std::string SweepTable::json_text() const {
  return json().dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

void SweepTable::write(const std::filesystem::path& directory) const {
  write_file_atomically(directory / "result.json", json_text());
  write_file_atomically(directory / "table.csv", csv());
}

}  // namespace sluice::cli
