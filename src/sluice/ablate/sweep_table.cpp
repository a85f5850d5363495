#include "sluice/ablate/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "sluice/ablate/statistics.h"
#include "sluice/base/csv.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

// A number of the last validation, as a column.
struct Column {
  const char* key;  // as in metrics.jsonl
  const char* title;
  int digits;
  double (*value)(const Validation&);  // NaN: the run does not have it
};

double unless_ungated(const Validation& validation, double value) {
  return validation.pulse.gated ? value : std::nan("");
}

constexpr Column kColumns[] = {
    {"validation_loss", "val. loss", 4, [](const Validation& v) { return v.loss; }},
    {"validation_ppl", "val. ppl", 3, [](const Validation& v) { return v.ppl(); }},
    {"sink", "sink", 4, [](const Validation& v) { return v.pulse.sink; }},
    {"max_activation", "max act", 2, [](const Validation& v) { return v.pulse.max_activation; }},
    {"gate_mean", "gate mean", 4, [](const Validation& v) { return unless_ungated(v, v.pulse.gate_mean); }},
    {"gate_below_0.1", "< 0.1", 4,
     [](const Validation& v) { return unless_ungated(v, v.pulse.gate_closed); }}};

// None if the run does not have it: a baseline has no gates, and a perplexity may be beyond all numbers.
std::optional<double> value_of(const SweepRun& run, const Column& column) {
  if (!run.outcome || !run.outcome->validation) return {};
  const double value = column.value(*run.outcome->validation);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<MeanInterval> over_seeds(const std::vector<SweepRun>& runs, const Column& column) {
  std::vector<double> values;
  for (const SweepRun& run : runs) {
    if (const auto value = value_of(run, column)) values.push_back(*value);
  }
  if (values.empty()) return {};
  return mean_interval(values);
}

bool has_diverged(const SweepRun& run) {
  return !run.outcome;
}

int64_t spikes_of(const SweepRun& run) {
  return run.outcome ? run.outcome->state.losses.spikes : 0;
}

int64_t spikes_of(const std::vector<SweepRun>& runs) {
  int64_t sum = 0;
  for (const SweepRun& run : runs) sum += spikes_of(run);
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
  ordered_json json = {
      {"seed", run.seed}, {"directory", run.directory.string()}, {"diverged", has_diverged(run)}};
  if (has_diverged(run)) return json;
  json.update(figures_json(*run.outcome));
  json["timing"] = timing_json(*run.outcome);
  return json;
}

ordered_json variant_json(const SweepVariant& variant) {
  ordered_json json = {{"name", variant.point.name()}, {"changes", variant.point.changes}};
  for (const Column& column : kColumns) {
    const std::optional<MeanInterval> interval = over_seeds(variant.runs, column);
    if (!interval) continue;
    json[column.key] = {{"mean", interval->mean},
                        {"half_width", interval->half_width ? ordered_json(*interval->half_width) : nullptr},
                        {"count", interval->count}};
  }
  json["spikes"] = spikes_of(variant.runs);
  json["diverged"] = std::ranges::count_if(variant.runs, has_diverged);
  json["runs"] = ordered_json::array();
  for (const SweepRun& run : variant.runs) json["runs"].push_back(run_json(run));
  return json;
}

}  // namespace

ordered_json to_json(const SweepResult& result) {
  ordered_json points = ordered_json::array();
  for (const SweepVariant& variant : result.variants) points.push_back(variant_json(variant));
  return {{"points", points}};
}

std::string to_text(const SweepResult& result) {
  constexpr size_t kWidth = 19;
  size_t names = 7;
  for (const SweepVariant& each : result.variants) names = std::max(names, each.point.name().size());
  std::string text = fmt::format("{:<{}}{:>6}", "variant", names, "runs");
  for (const Column& column : kColumns) text += right(column.title, kWidth);
  text += right("spikes", 8) + right("diverged", 10) + "\n";
  for (const SweepVariant& each : result.variants) {
    text += fmt::format("{:<{}}{:>6}", each.point.name(), names, each.runs.size());
    for (const Column& column : kColumns)
      text += right(cell(over_seeds(each.runs, column), column.digits), kWidth);
    text +=
        fmt::format("{:>8}{:>10}\n", spikes_of(each.runs), std::ranges::count_if(each.runs, has_diverged));
  }
  return text +
         "\n±: half of the 95 % interval over seeds (Student's t). Figures are of each run's last "
         "validation.\n";
}

std::string sweep_csv(const SweepResult& result) {
  std::string text = "variant,seed";
  for (const Column& column : kColumns) text += fmt::format(",{}", column.key);
  text += ",spikes,diverged\n";
  for (const SweepVariant& variant : result.variants) {
    for (const SweepRun& run : variant.runs) {
      text += fmt::format("{},{}", csv_cell(variant.point.name()), run.seed);
      for (const Column& column : kColumns) {
        const std::optional<double> value = value_of(run, column);
        text += value ? fmt::format(",{}", *value) : ",";
      }
      text += fmt::format(",{},{}\n", spikes_of(run), has_diverged(run) ? 1 : 0);
    }
  }
  return text;
}

}  // namespace sluice
