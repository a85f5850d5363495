#include "sluice/experiment/experiment_runs.h"

#include <limits>

#include "sluice/base/error.h"
#include "sluice/eval/backcopy_score.h"
#include "sluice/experiment/experiment_text.h"
#include "sluice/experiment/experiment_tuning.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// What is measured of a run that came to its end: its last weights, on the text that it kept out.
struct RunMeasurement {
  Engine& engine;
  const Experiment& experiment;
  const JobControl& control;

  BrokenRun break_run_of(const MeasuredTraining& measured, const SweepRun& run) const {
    BrokenRun broken = break_run(
        engine, {.plan = *experiment.breaking, .equal_loss = experiment.equal_loss, .run = run.directory},
        control);
    broken.variant = measured.variant;
    broken.seed = measured.seed;
    return broken;
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

void measure_runs(const RunMeasurement& measurement, const SweepResult& sweep, ExperimentResult& result) {
  for (const SweepVariant& variant : sweep.variants) {
    for (const SweepRun& run : variant.runs) {
      measurement.control.stop_if_cancelled();
      measurement.control.report("runs measured", std::ssize(result.runs), result.planned);
      MeasuredTraining measured = unmeasured(variant, run);
      if (run.outcome) {
        const fs::path weights = run.directory / "latest";
        const Look look = held_out_look(measurement.engine, weights, measurement.control);
        measured.validation_loss = run.outcome->validation->loss;
        measured.sink = look.sink.value;
        measured.max_activation = mean_largest_activation(look);
        if (const GateMeasure* gate = look.output_gate()) measured.gate_mean = gate->mean.value;
        measurement.add_score(measured, weights);
        measured.spikes = run.outcome->state.losses.spikes;
        measured.seconds = run.outcome->state.seconds;
        result.sink_floor = look.key_floor;
        result.steps = run.outcome->state.step;
        result.tokens = run.outcome->state.tokens;
        result.seconds += measured.seconds;
        if (measurement.experiment.breaking && run_counts(measurement.experiment, measured))
          result.broken.push_back(measurement.break_run_of(measured, run));
        if (measurement.experiment.course)
          result.courses.push_back({measured.variant, run.seed,
                                    measure_course(measurement.engine, run.directory, measurement.control)});
      }
      result.runs.push_back(std::move(measured));
    }
  }
}

SweepRequest sweep_of(const ExperimentRequest& request, const ExperimentTokens& text) {
  std::vector<GridPoint> points;
  for (PlannedVariant& planned : planned_variants(request.experiment))
    points.push_back(std::move(planned.point));
  return {.config = request.experiment.run,
          .changes = request.experiment.changes,
          .points = std::move(points),
          .seeds = request.experiment.seeds,
          .first_seed = request.experiment.first_seed,
          .shards = {TokenShard(text.tokens)},
          .out = request.home /
                 (request.experiment.runs.empty() ? request.experiment.name : request.experiment.runs),
          .tokenizer = text.tokenizer,
          .start = RunStart::ResumeOrNew,
          .runs = request.runs};
}

ExperimentCondition tuned_condition(Engine& engine, const ExperimentRequest& request,
                                    const JobControl& control) {
  const ExperimentRequest tuning{.experiment = read_experiment(request.experiment.tuned_by),
                                 .home = request.home,
                                 .runs = RunSelection::Ended};
  if (!tuning.experiment.tuned_by.empty())
    throw bad_input(
        {.where = request.experiment.tuned_by.string(), .what = "is tuned by another one itself"});
  return best_condition(run_experiment(engine, tuning, control));
}

}  // namespace

ExperimentResult run_experiment(Engine& engine, const ExperimentRequest& request, const JobControl& control,
                                const SweepObserver& observer) {
  ExperimentRequest tuned = request;
  Experiment& experiment = tuned.experiment;
  ExperimentResult result;
  if (!experiment.tuned_by.empty()) {
    const ExperimentCondition best = tuned_condition(engine, request, control);
    experiment.changes.insert(experiment.changes.end(), best.changes.begin(), best.changes.end());
    result.tuned = best.name;
  }
  const ExperimentTokens text = prepare_text(experiment.text, request.home, engine.threads(), control);
  const SweepResult sweep = run_sweep(engine, sweep_of(tuned, text), control, observer);
  if (sweep.end == RunEnd::Interrupted)
    throw Error(ErrorKind::Interrupted,
                {.what = "the experiment was stopped", .hint = "the same command goes on"});
  result.experiment = experiment;
  result.variants = planned_variants(experiment);
  result.planned = std::ssize(result.variants) * experiment.seeds;
  measure_runs({engine, experiment, control}, sweep, result);
  return result;
}

}  // namespace sluice
