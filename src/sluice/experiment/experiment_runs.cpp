#include "sluice/experiment/experiment_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/base/system.h"
#include "sluice/eval/backcopy_score.h"
#include "sluice/experiment/experiment_breaking.h"
#include "sluice/experiment/experiment_text.h"
#include "sluice/experiment/experiment_tuning.h"
#include "sluice/experiment/ledger.h"
#include "sluice/text/lines.h"
#include "sluice/train/metrics.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

// What is measured of a run that came to its end: its last weights, on the text that it kept out.
struct RunMeasurement {
  Engine& engine;
  const Experiment& experiment;
  const JobControl& control;

  void add_look(RunRecord& record, const fs::path& weights) const {
    const Look look = held_out_look(engine, weights, control);
    record.figures.sink = look.sink.value;
    record.figures.head_sink = strongest_head(look.attention).sink;
    record.figures.max_activation = mean_largest_activation(look);
    if (const GateMeasure* gate = look.output_gate()) record.figures.gate_mean = gate->mean.value;
    record.sink_floor = look.key_floor;
  }

  void add_score(MeasuredTraining& run, const fs::path& weights) const {
    if (experiment.text.kind != ExperimentText::Kind::Backcopy) return;
    const LoadedModel model(engine, weights);
    const BackcopyScore score =
        score_backcopy(model, {.seed = experiment.text.seed, .start = experiment.text.start}, control);
    run.copy_accuracy = score.copy_accuracy;
    run.excess = score.excess();
  }

  BrokenRun break_run_of(const PlannedVariant& variant, const SweepRun& run) const {
    BrokenRun broken = break_run(engine,
                                 {.plan = *experiment.breaking,
                                  .can_be_given = variant.can_be_given,
                                  .equal_loss = experiment.equal_loss,
                                  .run = run.directory},
                                 control);
    broken.variant = variant.point.name();
    broken.seed = run.seed;
    return broken;
  }

  void add_ended(RunRecord& record, const PlannedVariant& variant, const SweepRun& run) const {
    const TrainingOutcome& outcome = *run.outcome;
    record.figures.validation_loss = outcome.validation->loss;
    record.figures.spikes = static_cast<double>(outcome.state.losses.spikes);
    record.figures.seconds = outcome.state.seconds;
    record.steps = outcome.state.step;
    record.tokens = outcome.state.tokens;
    add_look(record, run.directory / "latest");
    add_score(record.figures, run.directory / "latest");
    if (experiment.breaking && run_counts(experiment, record.figures))
      record.broken = break_run_of(variant, run);
    if (experiment.course) record.course = measure_course(engine, run.directory, control);
  }

  // How far it came is known from its metrics alone: it was saved before that, or never. Without a step in
  // them it took none.
  static void add_diverged(RunRecord& record, const fs::path& run) {
    record.figures.seconds = 0;
    record.figures.spikes = 0;
    for_each_line(read_metrics_text(run), 1, [&](size_t number, std::string_view text) {
      const Json line = Json::parse(text, fmt::format("{}: line {}", (run / kMetricsName).string(), number));
      if (!line.contains("seconds")) return;  // a validation
      record.figures.seconds = line.number("seconds", kFinite);
      record.figures.spikes = line.number_or("spikes", 0, {.min = 0});
      record.steps = line.integer("step", {.min = 0});
      record.tokens = line.integer("tokens", {.min = 0});
    });
  }

  RunRecord record_of(const PlannedVariant& variant, const SweepRun& run) const {
    RunRecord record{
        .figures = {.variant = variant.point.name(),
                    .seed = run.seed,
                    .diverged = !run.outcome,
                    .machine = fmt::format("{}, {}", engine.cpu().brand, name_of(engine.isa().isa))},
        .plan = run_plan(experiment, variant, run.seed),
        .rules = rules_of_judgement(experiment),
        .date = utc_time("%Y-%m-%d")};
    if (run.outcome) {
      add_ended(record, variant, run);
    } else {
      add_diverged(record, run.directory);
    }
    return record;
  }
};

int trained_seeds(const ExperimentRequest& request) {
  return request.most_seeds == 0 ? request.experiment.seeds : request.most_seeds;
}

// Found out before hours of training.
void check_is_no_file(const fs::path& ledger) {
  std::error_code unknown;
  if (ledger.empty() || !fs::exists(ledger, unknown) || fs::is_directory(ledger, unknown)) return;
  throw bad_input({.where = ledger.string(), .what = "a ledger is a directory, and this is none"});
}

// Nothing would be found there, which is no answer.
void check_is_there(const ExperimentRequest& request) {
  std::error_code unknown;
  if (request.runs == RunSelection::All || !request.ledger.empty() || fs::is_directory(request.home, unknown))
    return;
  throw bad_input({.where = request.home.string(),
                   .what = "is no directory of runs, and no ledger is given",
                   .hint = "without --ended what is missing is trained"});
}

void check_seeds(const ExperimentRequest& request) {
  if (request.most_seeds <= request.experiment.seeds) return;
  throw usage_error({.where = "--seeds",
                     .what = fmt::format("{} plans fewer", request.experiment.name),
                     .expected = fmt::format("at most {}", request.experiment.seeds),
                     .got = std::to_string(request.most_seeds)});
}

fs::path runs_directory(const ExperimentRequest& request) {
  const Experiment& experiment = request.experiment;
  return request.home / (experiment.runs.empty() ? experiment.name : experiment.runs);
}

using PlannedVariants = std::span<const PlannedVariant>;

SweepRequest sweep_of(const ExperimentRequest& request, PlannedVariants variants,
                      const ExperimentTokens& text, const Ledger& ledger) {
  std::vector<GridPoint> points;
  for (const PlannedVariant& planned : variants) points.push_back(planned.point);
  return {.config = request.experiment.run,
          .changes = request.experiment.changes,
          .points = std::move(points),
          .seeds = trained_seeds(request),
          .first_seed = request.experiment.first_seed,
          .shards = {TokenShard(text.tokens)},
          .out = runs_directory(request),
          .tokenizer = text.tokenizer,
          .start = RunStart::ResumeOrNew,
          .runs = request.runs,
          .is_known = [&ledger](const GridPoint& point, int seed) {
            return ledger.find(point.name(), seed) != nullptr;
          }};
}

// Whether there may be something to add to the ledger.
bool misses_runs(const ExperimentRequest& request, PlannedVariants variants, const Ledger& ledger) {
  const Experiment& experiment = request.experiment;
  std::error_code unknown;
  for (const PlannedVariant& variant : variants)
    for (int i = 0; i < trained_seeds(request); ++i) {
      const int seed = experiment.first_seed + i;
      if (ledger.find(variant.point.name(), seed) != nullptr) continue;
      if (request.runs == RunSelection::All ||
          fs::exists(sweep_run_directory(runs_directory(request), variant.point, seed), unknown))
        return true;
    }
  return false;
}

// Trains what the ledger does not know. Each run is measured and added as soon as it has ended: whoever is
// stopped has lost nothing but the run that was under way.
void complete_ledger(Engine& engine, const ExperimentRequest& request, PlannedVariants variants,
                     Ledger& ledger, const JobControl& control, SweepObserver observer) {
  const Experiment& experiment = request.experiment;
  const ExperimentTokens text = prepare_text(experiment.text, request.home, engine.threads(), control);
  const std::string text_name = text.tokens.stem().string();
  if (request.runs == RunSelection::All) ledger.check_text(text_name);
  const RunMeasurement measurement{engine, experiment, control};
  observer.run_ended = [&, told = observer.run_ended](size_t variant, const SweepRun& run) {
    if (told) told(variant, run);
    control.stop_if_cancelled();
    RunRecord record = measurement.record_of(variants[variant], run);
    record.text = text_name;
    ledger.add(record, control);
  };
  const SweepResult sweep = run_sweep(engine, sweep_of(request, variants, text, ledger), control, observer);
  if (sweep.end == RunEnd::Interrupted)
    throw Error(ErrorKind::Interrupted,
                {.what = "the experiment was stopped", .hint = "the same command goes on"});
}

ExperimentCondition tuned_condition(Engine& engine, const ExperimentRequest& request,
                                    const JobControl& control) {
  const ExperimentRequest tuning{.experiment = read_experiment(request.experiment.tuned_by),
                                 .home = request.home,
                                 .runs = RunSelection::Ended,
                                 .ledger = request.ledger};
  if (!tuning.experiment.tuned_by.empty())
    throw bad_input(
        {.where = request.experiment.tuned_by.string(), .what = "is tuned by another one itself"});
  return best_condition(run_experiment(engine, tuning, control));
}

// Before any run is known.
ExperimentResult planned_result(const Experiment& experiment) {
  ExperimentResult result{.experiment = experiment, .variants = planned_variants(experiment)};
  result.planned = std::ssize(result.variants) * experiment.seeds;
  return result;
}

void add_known(ExperimentResult& result, const Ledger& ledger) {
  const int first = result.experiment.first_seed;
  for (const PlannedVariant& variant : result.variants)
    for (int seed = first; seed < first + result.experiment.seeds; ++seed)
      if (const RunRecord* record = ledger.find(variant.point.name(), seed)) add_record(result, *record);
}

}  // namespace

ExperimentResult run_experiment(Engine& engine, const ExperimentRequest& request, const JobControl& control,
                                const SweepObserver& observer) {
  check_seeds(request);
  check_is_no_file(request.ledger);
  check_is_there(request);
  ExperimentRequest tuned = request;
  Experiment& experiment = tuned.experiment;
  std::string condition;
  if (!experiment.tuned_by.empty()) {
    const ExperimentCondition best = tuned_condition(engine, request, control);
    experiment.changes.insert(experiment.changes.end(), best.changes.begin(), best.changes.end());
    condition = best.name;
  }
  ExperimentResult result = planned_result(experiment);
  result.tuned = condition;
  if (request.check) request.check(result);
  Ledger ledger(experiment, result.variants, request.ledger);
  if (misses_runs(tuned, result.variants, ledger))
    complete_ledger(engine, tuned, result.variants, ledger, control, observer);
  add_known(result, ledger);
  return result;
}

ExperimentResult known_result(const Experiment& experiment, std::string_view ledger_text) {
  ExperimentResult result = planned_result(experiment);
  Ledger ledger(experiment, result.variants);
  ledger.take(ledger_text, experiment.name + ".jsonl");
  add_known(result, ledger);
  return result;
}

}  // namespace sluice
