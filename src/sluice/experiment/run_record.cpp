#include "sluice/experiment/run_record.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sluice/base/json_text.h"
#include "sluice/experiment/experiment_breaking.h"
#include "sluice/experiment/ledger.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

constexpr IntegerRange kCount{.min = 0, .max = int64_t{1} << 62};

// Sums of probabilities in f32 may be a little more.
constexpr NumberRange kShare{.min = 0, .max = 1.0001};

// NaN stands for what a run does not have; JSON has none.
double number_or_nan(const Json& json, const char* key) {
  return json.number_or(key, std::numeric_limits<double>::quiet_NaN(), kFinite);
}

std::vector<CoursePoint> read_course(const Json& json) {
  std::vector<CoursePoint> course;
  for (const Json& point : json.array())
    course.push_back({.step = point.integer("step", kCount),
                      .tokens = point.integer("tokens", kCount),
                      .loss = number_or_nan(point, "loss"),
                      .sink = number_or_nan(point, "sink"),
                      .max_activation = number_or_nan(point, "max_activation"),
                      .gate_mean = number_or_nan(point, "gate_mean"),
                      .first_value = number_or_nan(point, "first_value")});
  return course;
}

constexpr const char* kInfinite = "infinite";

// Of a broken model, whose perplexity may be beyond all numbers.
double effect_or_nan(const Json& json, const char* key) {
  if (!json.contains(key) || !json.at(key).is_text()) return number_or_nan(json, key);
  if (json.text(key) != kInfinite)
    throw json.at(key).unexpected(fmt::format("a number, null or \"{}\"", kInfinite));
  return std::numeric_limits<double>::infinity();
}

ordered_json effect_json(double effect) {
  return std::isinf(effect) ? ordered_json(kInfinite) : finite_or_null(effect);
}

BrokenRun read_broken(const Json& json, const BreakingPlan& plan) {
  BrokenRun run{
      .sequences = json.integer_or("sequences", kBrokenSequences, kCount),
      .sink = number_or_nan(json, "sink"),
      .gate_with_sink = number_or_nan(json, "gate_with_sink"),
      .heads = json.integer("heads", kCount),
      .removed = json.contains("removed") ? std::optional(json.integer("removed", kCount)) : std::nullopt,
      .removed_loss = effect_or_nan(json, "removed_loss"),
      .trained_on_loss = effect_or_nan(json, "trained_on_loss")};
  for (const NamedChanges& each : plan.interventions) {
    const Json effect = json.at("effects").at(each.name);
    run.effects.push_back({.loss = effect_or_nan(effect, "loss"), .sink = number_or_nan(effect, "sink")});
  }
  return run;
}

// What variants are compared by, and what decides whether a run counts. Without it a pair would be left out
// in silence.
void check_is_measured(const Json& json, const Experiment& experiment, const MeasuredTraining& run) {
  if (run.diverged) return;
  for (const ExperimentFigure& figure : experiment_figures())
    if (figure.is_compared && !std::isfinite(run.*figure.value))
      throw json.unexpected(fmt::format("a number for {}, unless the run diverged", figure.key));
  if (experiment.solved && !std::isfinite(run.copy_accuracy))
    throw json.unexpected("a copy_accuracy, which decides whether the run counts");
}

}  // namespace

MeasuredTraining read_figures(const Json& json) {
  MeasuredTraining run{.variant = json.text("variant"),
                       .seed = static_cast<int>(json.integer("seed", {.min = 0, .max = 1 << 30})),
                       .diverged = json.boolean("diverged"),
                       .seconds = json.number("seconds", {.min = 0, .max = 1e12})};
  for (const ExperimentFigure& figure : experiment_figures())
    run.*figure.value =
        json.number_or(figure.key, MeasuredTraining::kNotMeasured, figure.is_share ? kShare : kFinite);
  run.spikes = json.number("spikes", {.min = 0});
  return run;
}

ordered_json to_json(const MeasuredTraining& run) {
  ordered_json json = {{"variant", run.variant}, {"seed", run.seed}, {"diverged", run.diverged}};
  for (const ExperimentFigure& figure : experiment_figures())
    json[figure.key] = finite_or_null(run.*figure.value);
  return json;
}

ordered_json to_json(const std::vector<CoursePoint>& course) {
  ordered_json points = ordered_json::array();
  for (const CoursePoint& point : course)
    points.push_back({{"step", point.step},
                      {"tokens", point.tokens},
                      {"loss", finite_or_null(point.loss)},
                      {"sink", finite_or_null(point.sink)},
                      {"max_activation", finite_or_null(point.max_activation)},
                      {"gate_mean", finite_or_null(point.gate_mean)},
                      {"first_value", finite_or_null(point.first_value)}});
  return points;
}

ordered_json to_json(const BrokenRun& run, const BreakingPlan& plan) {
  ordered_json effects = ordered_json::object();
  for (size_t i = 0; i < run.effects.size(); ++i)
    effects[plan.interventions[i].name] = {{"loss", effect_json(run.effects[i].loss)},
                                           {"sink", finite_or_null(run.effects[i].sink)}};
  return {{"sequences", run.sequences},
          {"sink", finite_or_null(run.sink)},
          {"gate_with_sink", finite_or_null(run.gate_with_sink)},
          {"effects", std::move(effects)},
          {"heads", run.heads},
          {"removed", run.removed ? ordered_json(*run.removed) : nullptr},
          {"removed_loss", effect_json(run.removed_loss)},
          {"trained_on_loss", effect_json(run.trained_on_loss)}};
}

ordered_json to_json(const RunRecord& record, const Experiment& experiment) {
  ordered_json json = to_json(record.figures);
  json["seconds"] = record.figures.seconds;
  json["steps"] = record.steps;
  json["tokens"] = record.tokens;
  json["sink_floor"] = record.sink_floor;
  json["plan"] = record.plan;
  if (!record.rules.empty()) json["rules"] = record.rules;
  if (!record.date.empty()) json["date"] = record.date;
  json["text"] = record.text;
  json["machine"] = record.figures.machine;
  if (!record.course.empty()) json["course"] = to_json(record.course);
  if (record.broken) json["broken"] = to_json(*record.broken, *experiment.breaking);
  return json;
}

RunRecord read_run_record(const Json& json, const Experiment& experiment) {
  RunRecord record{.figures = read_figures(json),
                   .steps = json.integer("steps", kCount),
                   .tokens = json.integer("tokens", kCount),
                   .sink_floor = json.number("sink_floor", {.min = 0, .max = 1}),
                   .plan = json.text("plan"),
                   .rules = json.text_or("rules", ""),
                   .date = json.text_or("date", ""),
                   .text = json.text("text")};
  check_is_measured(json, experiment, record.figures);
  record.figures.machine = json.text("machine");
  if (experiment.course && !record.figures.diverged) record.course = read_course(json.at("course"));
  if (experiment.breaking && run_counts(experiment, record.figures)) {
    record.broken = read_broken(json.at("broken"), *experiment.breaking);
    record.broken->variant = record.figures.variant;
    record.broken->seed = record.figures.seed;
  }
  return record;
}

void add_record(ExperimentResult& result, const RunRecord& record) {
  const MeasuredTraining& run = record.figures;
  result.runs.push_back(run);
  ++result.machines[run.machine];
  result.seconds += run.seconds;
  if (!record.rules.empty())
    ++(record.rules == rules_of_judgement(result.experiment) ? result.judged_as_planned : result.judged_anew);
  if (run.diverged) return;
  result.sink_floor = record.sink_floor;
  result.steps = record.steps;
  result.tokens = record.tokens;
  if (record.broken) result.broken.push_back(*record.broken);
  if (!record.course.empty()) result.courses.push_back({run.variant, run.seed, record.course});
}

}  // namespace sluice
