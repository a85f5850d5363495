#include "sluice/ablate/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sluice/ablate/sweep_table.h"
#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "sluice/base/json_text.h"
#include "sluice/model/count.h"

namespace sluice {
namespace {

struct PlannedTraining {
  size_t variant;
  int seed;
  TrainingJob job;
};

void check_can_vary(const std::string& key) {
  if (key == "seed") throw usage_error({.where = "--vary seed", .what = "seeds are counted by --seeds"});
  if (key.starts_with("validation"))
    throw usage_error({.where = fmt::format("--vary {}", key),
                       .what = "a sweep compares its runs on the same validation text"});
}

std::vector<GridPoint> points_of(const SweepRequest& request) {
  std::vector<GridPoint> points = request.points.empty() ? grid_points(request.axes) : request.points;
  for (const GridPoint& point : points)
    for (const std::string& change : point.changes) check_can_vary(change.substr(0, change.find('=')));
  std::set<std::string> names = {".", ".."};
  for (const GridPoint& point : points) {
    if (names.insert(point.name()).second) continue;
    throw usage_error(
        {.where = "--vary", .what = fmt::format("{} is no name for a variant of its own", point.name())});
  }
  return points;
}

RunConfig config_of(const SweepRequest& request, const GridPoint& point, int seed) {
  std::vector<std::string> changes = changes_of_variant(request.changes, point);
  changes.push_back(fmt::format("seed={}", seed));
  RunConfig config = load_run_config(request.config, changes);
  if (config.validation.share == 0 && request.validation.empty()) {
    throw bad_input({.where = request.config,
                     .what = "a sweep compares validation losses",
                     .expected = "validation.share above 0"});
  }
  // Sessions of equal time are not runs of equal length, least of all if one was stopped.
  if (config.stop.minutes > 0) {
    throw bad_input({.where = request.config,
                     .what = "a sweep compares runs of equal length",
                     .expected = "no stop.minutes"});
  }
  return config;
}

// All runs are checked before the first: a bad one at the end costs no hours.
std::vector<PlannedTraining> plan(const SweepRequest& request, const std::vector<GridPoint>& points) {
  std::vector<PlannedTraining> runs;
  for (int seed = request.first_seed; seed < request.first_seed + request.seeds; ++seed) {
    for (size_t i = 0; i < points.size(); ++i) {
      const std::filesystem::path out = request.out / points[i].name() / fmt::format("seed-{}", seed);
      runs.push_back({i,
                      seed,
                      {.config = config_of(request, points[i], seed),
                       .shards = request.shards,
                       .out = out,
                       .tokenizer = request.tokenizer,
                       .start = request.start == RunStart::New ? RunStart::New : RunStart::ResumeOrNew,
                       .validation = request.validation}});
      check_job(runs.back().job);
    }
  }
  return runs;
}

// Where a run that diverged says why.
std::filesystem::path divergence_file(const TrainingJob& job) {
  return job.out / "diverged.txt";
}

bool has_diverged_before(const TrainingJob& job) {
  std::error_code error;
  return job.start != RunStart::New && std::filesystem::exists(divergence_file(job), error);
}

bool is_selected(const SweepRequest& request, const TrainingJob& job) {
  return request.runs == RunSelection::All || has_diverged_before(job) ||
         RunDirectory::has_checkpoint(job.out, job.config.steps());
}

SweepRun train(Engine& engine, const PlannedTraining& planned, const JobControl& control,
               const SweepObserver& observer) {
  SweepRun run{.seed = planned.seed, .directory = planned.job.out};
  if (has_diverged_before(planned.job)) return run;
  // The next model may have other sizes, for which the memory of the last is of no use.
  engine.pool().release_unused();
  try {
    run.outcome = run_training(engine, planned.job, control, observer.run);
  } catch (const Divergence& error) {
    write_file_atomically(divergence_file(planned.job), std::string(error.what()) + "\n");
    if (observer.run_diverged) observer.run_diverged(run, error);
  }
  return run;
}

void write(const SweepResult& result, const std::filesystem::path& directory) {
  write_file_atomically(directory / "result.json", pretty_text(to_json(result)));
  write_file_atomically(directory / "table.csv", sweep_csv(result));
}

}  // namespace

std::vector<std::string> changes_of_variant(const std::vector<std::string>& common, const GridPoint& point) {
  std::vector<std::string> changes = common;
  changes.insert(changes.end(), point.changes.begin(), point.changes.end());
  // A model that replaces another must not take back what is changed of it.
  std::ranges::stable_partition(changes,
                                [](const std::string& change) { return change.starts_with("model="); });
  return changes;
}

SweepResult run_sweep(Engine& engine, const SweepRequest& request, const JobControl& control,
                      const SweepObserver& observer) {
  const std::vector<GridPoint> points = points_of(request);
  if (request.start == RunStart::New) check_can_fill(request.out);
  const std::vector<PlannedTraining> runs = plan(request, points);
  SweepResult result;
  for (const GridPoint& point : points) result.variants.push_back({.point = point});
  for (size_t i = 0; i < runs.size() && result.end == RunEnd::Finished; ++i) {
    SweepVariant& variant = result.variants[runs[i].variant];
    variant.parameters = count_parameters(runs[i].job.config.model).total();
    if (!is_selected(request, runs[i].job)) continue;
    if (observer.run_begins) observer.run_begins({i + 1, runs.size(), variant.point.name(), runs[i].seed});
    SweepRun run = train(engine, runs[i], control, observer);
    if (run.outcome && run.outcome->end == RunEnd::Interrupted) {
      result.end = RunEnd::Interrupted;
    } else {
      variant.runs.push_back(std::move(run));
    }
    if (request.runs == RunSelection::All) write(result, request.out);
  }
  return result;
}

}  // namespace sluice
