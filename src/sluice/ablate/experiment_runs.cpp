#include "sluice/ablate/experiment_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/ablate/experiment_text.h"
#include "sluice/analysis/study.h"
#include "sluice/base/error.h"
#include "sluice/eval/backcopy_score.h"
#include "sluice/model/count.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr int64_t kMeasuredSequences = 200;  // held-out, of a run
constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

constexpr ExperimentFigure kExperimentFigures[] = {
    {"validation_loss", "validation loss", &MeasuredTraining::validation_loss, 4, true},
    {"sink", "sink", &MeasuredTraining::sink, 4, true},
    {"max_activation", "largest activation", &MeasuredTraining::max_activation, 2, true},
    {"copy_accuracy", "copied right", &MeasuredTraining::copy_accuracy, 4, false},
    {"excess", "excess", &MeasuredTraining::excess, 4, false},
    {"gate_mean", "mean gate", &MeasuredTraining::gate_mean, 4, false}};

// What is measured of a run that came to its end: its last weights, on the text that it kept out.
struct RunMeasurement {
  Engine& engine;
  const Experiment& experiment;
  const JobControl& control;

  Look look_at(const fs::path& weights) const {
    StudyRequest request{.models = {weights.string()},
                         .source = HeldOutText{},
                         .chunks = {.at_most = kMeasuredSequences},
                         .prompt = {}};
    return std::move(study_models(engine, request, control).models.front().look);
  }

  void add_score(MeasuredTraining& run, const fs::path& weights) const {
    if (experiment.text.kind != ExperimentText::Kind::Backcopy) return;
    const LoadedModel model(engine, weights);
    const BackcopyScore score = score_backcopy(model, {.seed = experiment.text.seed}, control);
    run.copy_accuracy = score.copy_accuracy;
    run.excess = score.excess();
  }
};

MeasuredTraining unmeasured(const SweepVariant& variant, const SweepRun& run) {
  return {.variant = variant.point.name(),
          .seed = run.seed,
          .diverged = !run.outcome,
          .validation_loss = kNotMeasured,
          .sink = kNotMeasured,
          .max_activation = kNotMeasured,
          .gate_mean = kNotMeasured,
          .copy_accuracy = kNotMeasured,
          .excess = kNotMeasured};
}

// The largest value of each sequence is averaged, so that it does not grow with their number.
double mean_largest(const Look& look) {
  return look.activations.front().of_sequences.value;
}

void measure_runs(const RunMeasurement& measurement, const SweepResult& sweep, ExperimentResult& result) {
  for (const SweepVariant& variant : sweep.variants) {
    for (const SweepRun& run : variant.runs) {
      measurement.control.stop_if_cancelled();
      measurement.control.report("runs measured", std::ssize(result.runs), result.planned);
      MeasuredTraining measured = unmeasured(variant, run);
      if (run.outcome) {
        const fs::path weights = run.directory / "latest";
        const Look look = measurement.look_at(weights);
        measured.validation_loss = run.outcome->validation->loss;
        measured.sink = look.sink.value;
        measured.max_activation = mean_largest(look);
        if (const GateMeasure* gate = look.output_gate()) measured.gate_mean = gate->mean.value;
        measurement.add_score(measured, weights);
        measured.spikes = run.outcome->state.losses.spikes;
        measured.seconds = run.outcome->state.seconds;
        result.sink_floor = look.key_floor;
        result.steps = run.outcome->state.step;
        result.tokens = run.outcome->state.tokens;
        result.seconds += measured.seconds;
      }
      result.runs.push_back(std::move(measured));
    }
  }
}

SweepRequest sweep_of(const ExperimentRequest& request, const ExperimentTokens& text) {
  return {.config = request.experiment.run,
          .changes = request.experiment.changes,
          .axes = request.experiment.axes,
          .seeds = request.experiment.seeds,
          .shards = {TokenShard(text.tokens)},
          .out = request.home / request.experiment.name,
          .tokenizer = text.tokenizer,
          .start = RunStart::ResumeOrNew,
          .runs = request.runs};
}

// A seed with which both runs count, and what they differ by.
struct SeedPair {
  int seed = 0;
  double difference = 0;
};

std::vector<SeedPair> seed_pairs(const ExperimentResult& result, const std::string& variant,
                                 double MeasuredTraining::*value) {
  std::vector<SeedPair> pairs;
  const auto counted = [&](const MeasuredTraining& run) {
    return run_counts(result.experiment, run) && std::isfinite(run.*value);
  };
  for (const MeasuredTraining& run : result.runs) {
    if (run.variant != variant || !counted(run)) continue;
    for (const MeasuredTraining& base : result.runs)
      if (base.variant == result.variants.front() && base.seed == run.seed && counted(base))
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

std::optional<MeanInterval> figure_over_seeds(const ExperimentResult& result, const std::string& variant,
                                              double MeasuredTraining::*value) {
  std::vector<double> values;
  for (const MeasuredTraining& run : result.runs)
    if (run.variant == variant && run_counts(result.experiment, run) && std::isfinite(run.*value))
      values.push_back(run.*value);
  if (values.empty()) return {};
  return mean_interval(values);
}

PlannedDifference planned_difference(const ExperimentResult& result, const std::string& variant,
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

ExperimentResult run_experiment(Engine& engine, const ExperimentRequest& request, const JobControl& control,
                                const SweepObserver& observer) {
  const Experiment& experiment = request.experiment;
  const ExperimentTokens text = prepare_text(experiment.text, request.home, engine.threads(), control);
  const SweepResult sweep = run_sweep(engine, sweep_of(request, text), control, observer);
  if (sweep.end == RunEnd::Interrupted)
    throw Error(ErrorKind::Interrupted,
                {.what = "the experiment was stopped", .hint = "the same command goes on"});
  ExperimentResult result{.experiment = experiment};
  for (const SweepVariant& variant : sweep.variants) {
    result.variants.push_back(variant.point.name());
    result.parameters.push_back(variant.parameters);
    result.planned += experiment.seeds;
  }
  measure_runs({engine, experiment, control}, sweep, result);
  return result;
}

ordered_json to_json(const ExperimentResult& result) {
  ordered_json runs = ordered_json::array();
  for (const MeasuredTraining& run : result.runs) {
    ordered_json json = {{"variant", run.variant}, {"seed", run.seed}, {"diverged", run.diverged}};
    for (const ExperimentFigure& figure : kExperimentFigures)
      json[figure.key] = std::isfinite(run.*figure.value) ? ordered_json(run.*figure.value) : nullptr;
    json["counts"] = run_counts(result.experiment, run);
    json["spikes"] = run.spikes;
    json["timing"] = {{"seconds", run.seconds}};
    runs.push_back(std::move(json));
  }
  return {{"experiment", result.experiment.name},
          {"question", result.experiment.question},
          {"planned_runs", result.planned},
          {"steps", result.steps},
          {"tokens", result.tokens},
          {"sink_floor", result.sink_floor},
          {"runs", std::move(runs)}};
}

std::string to_text(const ExperimentResult& result) {
  std::string text = fmt::format("{}\n{} of {} runs have ended\n", result.experiment.question,
                                 result.runs.size(), result.planned);
  for (const std::string& variant : result.variants) {
    for (const ExperimentFigure& figure : kExperimentFigures) {
      const auto mean = figure_over_seeds(result, variant, figure.value);
      if (!mean) continue;
      text += fmt::format("{}: {} {:.{}f}", variant, figure.title, mean->mean, figure.digits);
      if (mean->half_width) text += fmt::format(" ± {:.{}f}", *mean->half_width, figure.digits);
      text += fmt::format(" ({} seeds)\n", mean->count);
    }
  }
  return text;
}

}  // namespace sluice
