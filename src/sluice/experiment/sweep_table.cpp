#include "sluice/experiment/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/base/csv.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

double unless_ungated(const Validation& validation, double value) {
  return validation.pulse.gated ? value : std::nan("");
}

constexpr SweepColumn kColumns[] = {
    {"validation_loss", "val. loss", 4, [](const Validation& v) { return v.loss; }},
    {"validation_ppl", "val. ppl", 3, [](const Validation& v) { return v.ppl(); }},
    {"sink", "sink", 4, [](const Validation& v) { return v.pulse.sink; }},
    {"max_activation", "max act", 2, [](const Validation& v) { return v.pulse.max_activation; }},
    {"gate_mean", "gate mean", 4, [](const Validation& v) { return unless_ungated(v, v.pulse.gate_mean); },
     false},
    {"gate_below_0.1", "< 0.1", 4, [](const Validation& v) { return unless_ungated(v, v.pulse.gate_closed); },
     false}};

// None if the run does not have it: a baseline has no gates, and a perplexity may be beyond all numbers.
std::optional<double> value_of(const SweepRun& run, const SweepColumn& column) {
  if (!run.outcome || !run.outcome->validation) return {};
  const double value = column.value(*run.outcome->validation);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool has_diverged(const SweepRun& run) {
  return !run.outcome;
}

int64_t run_spikes(const SweepRun& run) {
  return run.outcome ? run.outcome->state.losses.spikes : 0;
}

}  // namespace

std::span<const SweepColumn> sweep_columns() {
  return kColumns;
}

std::optional<MeanInterval> over_seeds(const std::vector<SweepRun>& runs, const SweepColumn& column) {
  std::vector<double> values;
  for (const SweepRun& run : runs) {
    if (const auto value = value_of(run, column)) values.push_back(*value);
  }
  if (values.empty()) return {};
  return mean_interval(values);
}

// Runs with the same seed see the same text in the same order: what they differ by is the variant's doing,
// and varies less than either.
std::optional<MeanInterval> paired_difference(const SweepVariant& variant, const SweepVariant& first,
                                              const SweepColumn& column) {
  std::vector<double> differences;
  for (const SweepRun& run : variant.runs) {
    for (const SweepRun& other : first.runs) {
      const auto value = value_of(run, column), base = value_of(other, column);
      if (run.seed == other.seed && value && base) differences.push_back(*value - *base);
    }
  }
  if (differences.empty()) return {};
  return mean_interval(differences);
}

int64_t spikes_of(const std::vector<SweepRun>& runs) {
  int64_t sum = 0;
  for (const SweepRun& run : runs) sum += run_spikes(run);
  return sum;
}

int64_t diverged_of(const std::vector<SweepRun>& runs) {
  return std::ranges::count_if(runs, has_diverged);
}

namespace {

// Of the runs that came to their end.
std::optional<double> seconds_per_run(const std::vector<SweepRun>& runs) {
  std::vector<double> seconds;
  for (const SweepRun& run : runs)
    if (run.outcome) seconds.push_back(run.outcome->state.seconds);
  if (seconds.empty()) return {};
  return mean_interval(seconds).mean;
}

std::string with_half_width(const std::string& mean, const MeanInterval& interval, int digits) {
  return interval.half_width ? fmt::format("{} ± {:.{}f}", mean, *interval.half_width, digits) : mean;
}

std::string cell(const std::optional<MeanInterval>& interval, int digits) {
  if (!interval) return "-";
  return with_half_width(fmt::format("{:.{}f}", interval->mean, digits), *interval, digits);
}

std::string signed_cell(const std::optional<MeanInterval>& interval, int digits) {
  if (!interval) return "-";
  return with_half_width(fmt::format("{:+.{}f}", interval->mean, digits), *interval, digits);
}

// fmt counts bytes in a width, and ± has two.
std::string right(const std::string& text, size_t width) {
  const auto characters = static_cast<size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
  return std::string(characters < width ? width - characters : 0, ' ') + text;
}

ordered_json run_json(const SweepRun& run) {
  ordered_json json = {
      {"seed", run.seed}, {"directory", run.directory.string()}, {"diverged", has_diverged(run)}};
  if (has_diverged(run)) return json;
  json.update(figures_json(*run.outcome));
  json["timing"] = timing_json(*run.outcome);
  return json;
}

ordered_json interval_json(const MeanInterval& interval) {
  return {{"mean", interval.mean},
          {"half_width", interval.half_width ? ordered_json(*interval.half_width) : nullptr},
          {"count", interval.count}};
}

ordered_json difference_json(const SweepVariant& variant, const SweepVariant& first) {
  ordered_json json = {{"against", first.point.name()}};
  for (const SweepColumn& column : kColumns) {
    if (!column.is_compared) continue;
    if (const auto interval = paired_difference(variant, first, column))
      json[column.key] = interval_json(*interval);
  }
  return json;
}

ordered_json variant_json(const SweepVariant& variant) {
  ordered_json json = {
      {"name", variant.point.name()}, {"changes", variant.point.changes}, {"parameters", variant.parameters}};
  for (const SweepColumn& column : kColumns) {
    if (const auto interval = over_seeds(variant.runs, column)) json[column.key] = interval_json(*interval);
  }
  if (const auto seconds = seconds_per_run(variant.runs)) json["seconds_per_run"] = *seconds;
  json["spikes"] = spikes_of(variant.runs);
  json["diverged"] = diverged_of(variant.runs);
  json["runs"] = ordered_json::array();
  for (const SweepRun& run : variant.runs) json["runs"].push_back(run_json(run));
  return json;
}

constexpr size_t kWidth = 19;  // of a column

size_t name_width(const SweepResult& result) {
  size_t width = 7;
  for (const SweepVariant& each : result.variants) width = std::max(width, each.point.name().size());
  return width;
}

// Nothing if there is one variant alone.
std::string differences_text(const SweepResult& result) {
  if (result.variants.size() < 2) return "";
  const SweepVariant& first = result.variants.front();
  std::string text = fmt::format("\nDifferences from {}, paired by seed:\n{:<{}}{:>6}", first.point.name(),
                                 "variant", name_width(result), "pairs");
  for (const SweepColumn& column : kColumns)
    if (column.is_compared) text += right(column.title, kWidth);
  for (const SweepVariant& each : std::span(result.variants).subspan(1)) {
    const auto losses = paired_difference(each, first, kColumns[0]);
    text += fmt::format("\n{:<{}}{:>6}", each.point.name(), name_width(result), losses ? losses->count : 0);
    for (const SweepColumn& column : kColumns)
      if (column.is_compared)
        text += right(signed_cell(paired_difference(each, first, column), column.digits), kWidth);
  }
  return text + "\n";
}

}  // namespace

ordered_json to_json(const SweepResult& result) {
  ordered_json points = ordered_json::array();
  for (const SweepVariant& variant : result.variants) {
    points.push_back(variant_json(variant));
    if (points.size() > 1) points.back()["difference"] = difference_json(variant, result.variants.front());
  }
  return {{"points", points}};
}

std::string to_text(const SweepResult& result) {
  const size_t names = name_width(result);
  std::string text = fmt::format("{:<{}}{:>6}{:>12}{:>9}", "variant", names, "runs", "parameters", "min/run");
  for (const SweepColumn& column : kColumns) text += right(column.title, kWidth);
  text += right("spikes", 8) + right("diverged", 10) + "\n";
  for (const SweepVariant& each : result.variants) {
    const std::optional<double> seconds = seconds_per_run(each.runs);
    text += fmt::format("{:<{}}{:>6}{:>12}{:>9}", each.point.name(), names, each.runs.size(), each.parameters,
                        seconds ? fmt::format("{:.1f}", *seconds / 60) : "-");
    for (const SweepColumn& column : kColumns)
      text += right(cell(over_seeds(each.runs, column), column.digits), kWidth);
    text += fmt::format("{:>8}{:>10}\n", spikes_of(each.runs), diverged_of(each.runs));
  }
  return text + differences_text(result) +
         "\n±: half of the 95 % interval over seeds (Student's t). Figures are of each run's last "
         "validation.\n";
}

std::string sweep_csv(const SweepResult& result) {
  std::string text = "variant,seed";
  for (const SweepColumn& column : kColumns) text += fmt::format(",{}", column.key);
  text += ",spikes,diverged,parameters,seconds\n";
  for (const SweepVariant& variant : result.variants) {
    for (const SweepRun& run : variant.runs) {
      text += fmt::format("{},{}", csv_cell(variant.point.name()), run.seed);
      for (const SweepColumn& column : kColumns) {
        const std::optional<double> value = value_of(run, column);
        text += value ? fmt::format(",{}", *value) : ",";
      }
      text += fmt::format(",{},{},{},{}\n", run_spikes(run), has_diverged(run) ? 1 : 0, variant.parameters,
                          run.outcome ? fmt::format("{:.3f}", run.outcome->state.seconds) : "");
    }
  }
  return text;
}

}  // namespace sluice
