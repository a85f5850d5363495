#include "sluice/experiment/experiment_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/experiment/run_record.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

constexpr ExperimentFigure kExperimentFigures[] = {
    {"validation_loss", "validation loss", &MeasuredTraining::validation_loss, 4, true},
    {"sink", "sink", &MeasuredTraining::sink, 4, true},
    {"max_activation", "largest activation", &MeasuredTraining::max_activation, 2, true},
    {"copy_accuracy", "copied right", &MeasuredTraining::copy_accuracy, 4, false},
    {"excess", "excess", &MeasuredTraining::excess, 4, false},
    {"gate_mean", "mean gate", &MeasuredTraining::gate_mean, 4, false}};

// A seed with which both runs count, and what they differ by.
struct SeedPair {
  int seed = 0;
  double difference = 0;
};

std::vector<SeedPair> seed_pairs(const ExperimentResult& result, const PlannedVariant& variant,
                                 double MeasuredTraining::*value) {
  std::vector<SeedPair> pairs;
  const auto counted = [&](const MeasuredTraining& run) {
    return run_counts(result.experiment, run) && std::isfinite(run.*value);
  };
  for (const MeasuredTraining& run : result.runs) {
    if (run.variant != variant.point.name() || !counted(run)) continue;
    for (const MeasuredTraining& base : result.runs)
      if (base.variant == reference_of(result, variant).point.name() && base.seed == run.seed &&
          counted(base))
        pairs.push_back({run.seed, run.*value - base.*value});
  }
  std::ranges::sort(pairs, {}, &SeedPair::seed);
  return pairs;
}

}  // namespace

std::span<const ExperimentFigure> experiment_figures() {
  return kExperimentFigures;
}

bool run_counts(const Experiment& experiment, const MeasuredTraining& run) {
  return !run.diverged && (!experiment.solved || run.copy_accuracy >= *experiment.solved);
}

std::optional<MeanInterval> figure_over_seeds(const ExperimentResult& result, const PlannedVariant& variant,
                                              double MeasuredTraining::*value) {
  std::vector<double> values;
  for (const MeasuredTraining& run : result.runs)
    if (run.variant == variant.point.name() && run_counts(result.experiment, run) &&
        std::isfinite(run.*value))
      values.push_back(run.*value);
  if (values.empty()) return {};
  return mean_interval(values);
}

PlannedDifference planned_difference(const ExperimentResult& result, const PlannedVariant& variant,
                                     double MeasuredTraining::*value) {
  const std::vector<SeedPair> pairs = seed_pairs(result, variant, value);
  PlannedDifference planned{.pairs = std::ssize(pairs)};
  for (const ExperimentLook& look : result.experiment.looks)
    if (look.pairs <= planned.pairs) planned.look = look;
  // Pairs that came after the look were not planned to be looked at with it.
  const int64_t seen = planned.look ? planned.look->pairs : planned.pairs;
  std::vector<double> values;
  for (const SeedPair& pair : std::span(pairs).first(static_cast<size_t>(seen)))
    values.push_back(pair.difference);
  if (!values.empty())
    planned.difference = mean_interval(values, planned.look ? planned.look->error : kUsualError);
  return planned;
}

const PlannedVariant& reference_of(const ExperimentResult& result, const PlannedVariant& variant) {
  return result.variants.at(variant.against);
}

bool is_compared(const ExperimentResult& result, const PlannedVariant& variant) {
  return !result.experiment.looks.empty() &&
         reference_of(result, variant).point.name() != variant.point.name();
}

ordered_json to_json(const ExperimentResult& result) {
  ordered_json runs = ordered_json::array();
  for (const MeasuredTraining& run : result.runs) {
    ordered_json json = to_json(run);
    json["counts"] = run_counts(result.experiment, run);
    json["timing"] = {{"seconds", run.seconds}};
    runs.push_back(std::move(json));
  }
  ordered_json json = {{"experiment", result.experiment.name},
                       {"question", result.experiment.question},
                       {"planned_runs", result.planned},
                       {"steps", result.steps},
                       {"tokens", result.tokens},
                       {"sink_floor", result.sink_floor},
                       {"machines", result.machines},
                       {"runs", std::move(runs)}};
  if (!result.tuned.empty()) json["tuned"] = result.tuned;
  for (const RunCourse& course : result.courses)
    json["courses"].push_back(
        {{"variant", course.variant}, {"seed", course.seed}, {"points", to_json(course.points)}});
  for (const BrokenRun& run : result.broken) {
    ordered_json broken = {{"variant", run.variant}, {"seed", run.seed}};
    broken.update(to_json(run, *result.experiment.breaking));
    json["broken"].push_back(std::move(broken));
  }
  return json;
}

std::string to_text(const ExperimentResult& result) {
  std::string text = fmt::format("{}\n{} of {} runs have ended\n", result.experiment.question,
                                 result.runs.size(), result.planned);
  for (const PlannedVariant& variant : result.variants) {
    for (const ExperimentFigure& figure : kExperimentFigures) {
      const auto mean = figure_over_seeds(result, variant, figure.value);
      if (!mean) continue;
      text += fmt::format("{}: {} {:.{}f}", variant.point.name(), figure.title, mean->mean, figure.digits);
      if (mean->half_width) text += fmt::format(" ± {:.{}f}", *mean->half_width, figure.digits);
      text += fmt::format(" ({} seeds)\n", mean->count);
    }
  }
  return text;
}

}  // namespace sluice
