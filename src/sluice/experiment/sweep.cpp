#include "sluice/experiment/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sluice/base/atomic_file.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "sluice/base/json_text.h"
#include "sluice/dist/pieces.h"
#include "sluice/experiment/sweep_table.h"
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
  // Sessions of equal time are not runs of equal length, least of all if one was stopped; nor are runs that
  // end where they get no better.
  if (config.stop.minutes > 0 || config.stop.patience > 0) {
    throw bad_input({.where = request.config,
                     .what = "a sweep compares runs of equal length",
                     .expected = config.stop.minutes > 0 ? "no stop.minutes" : "no stop.patience"});
  }
  return config;
}

// Whether runs may have begun before: in an earlier session, or by another process.
bool goes_on(const SweepRequest& request) {
  return request.start != RunStart::New || request.sharing.joins;
}

// Those of a sweep that one process has begun may be shared from then on.
bool holds_runs(const std::filesystem::path& out, const std::vector<GridPoint>& points) {
  std::error_code unknown;
  return std::ranges::any_of(
      points, [&](const GridPoint& point) { return std::filesystem::exists(out / point.name(), unknown); });
}

// What may change when a run is resumed, but not here. A run that is made longer had its rate fall for
// another length, and one that kept other checkpoints has another course.
void check_same_plan(const TrainingJob& job) {
  if (job.start == RunStart::New || !RunDirectory::has_run(job.out)) return;
  const RunConfig begun = load_run_config((job.out / "config.json").string(), {});
  const auto check = [&](const char* what, const char* unit, int64_t expected, int64_t got) {
    if (expected == got) return;
    throw bad_input({.where = job.out.string(),
                     .what = what,
                     .expected = fmt::format("{} steps{}", expected, unit),
                     .got = std::to_string(got),
                     .hint = "a sweep compares runs that are alike: take another directory"});
  };
  check("the run in it has another length", "", job.config.steps(), begun.steps());
  check("the run in it keeps other checkpoints", " between two", job.config.checkpoints.every,
        begun.checkpoints.every);
}

// All runs are checked before the first: a bad one at the end costs no hours.
std::vector<PlannedTraining> plan(const SweepRequest& request, const std::vector<GridPoint>& points) {
  std::vector<PlannedTraining> runs;
  for (int seed = request.first_seed; seed < request.first_seed + request.seeds; ++seed) {
    for (size_t i = 0; i < points.size(); ++i) {
      if (request.is_known && request.is_known(points[i], seed)) continue;
      const std::filesystem::path out = sweep_run_directory(request.out, points[i], seed);
      runs.push_back({i,
                      seed,
                      {.config = config_of(request, points[i], seed),
                       .shards = request.shards,
                       .out = out,
                       .tokenizer = request.tokenizer,
                       .start = goes_on(request) ? RunStart::ResumeOrNew : RunStart::New,
                       .validation = request.validation}});
      check_job(runs.back().job);
      check_same_plan(runs.back().job);
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

std::vector<Piece> pieces_of(const std::vector<PlannedTraining>& runs, const std::vector<GridPoint>& points) {
  std::vector<Piece> pieces;
  for (const PlannedTraining& run : runs) {
    pieces.push_back({.name = fmt::format("{}/seed-{}", points[run.variant].name(), run.seed),
                      .fingerprint = fmt::format("{:08x}", crc32c(run_config_json(run.job.config).dump()))});
  }
  return pieces;
}

class Sweep {
 public:
  Sweep(Engine& engine, const SweepRequest& request, const JobControl& control, const SweepObserver& observer)
      : engine_(engine),
        request_(request),
        control_(control),
        observer_(observer),
        points_(points_of(request)) {
    if (!goes_on(request)) check_can_fill(request.out);
    if (request.sharing.joins) {
      if (!holds_runs(request.out, points_)) check_holds_nothing_else(request.out);
      const bool begins = request.start == RunStart::New;
      folder_.emplace(open_pieces(request.out, begins ? request.sharing.job : "", {.kind = "a sweep"}));
    }
    runs_ = plan(request, points_);
  }

  SweepResult run() {
    if (!folder_) {
      SweepResult result = read_runs(control_, observer_);
      publish(result);
      return result;
    }
    const bool have_ended = share_pieces(
        *folder_, pieces_of(runs_, points_), [&](size_t i) { return work(i); }, control_);
    if (!have_ended) return {.variants = {}, .end = RunEnd::Interrupted, .is_elsewhere = true};
    SharedResult shared(*folder_, request_.sharing.job);
    if (!shared.claim() && !shared.outlives_collector(control_))
      return {.variants = {}, .end = RunEnd::Finished, .is_elsewhere = true};
    // What others have trained was told by them.
    JobControl silent = control_;
    silent.log = nullptr;
    SweepResult result = read_runs(silent, {});
    publish(result);
    shared.publish();
    return result;
  }

 private:
  void tell_begin(size_t i, const SweepObserver& observer) const {
    if (observer.run_begins)
      observer.run_begins({i + 1, runs_.size(), points_[runs_[i].variant].name(), runs_[i].seed});
  }

  std::string work(size_t i) const {
    tell_begin(i, observer_);
    train(engine_, runs_[i], control_, observer_);
    return "";
  }

  void publish(const SweepResult& result) const {
    if (request_.publish) request_.publish(result);
  }

  // Trains what is not there yet, and reads what is.
  SweepResult read_runs(const JobControl& control, const SweepObserver& observer) const {
    SweepResult result;
    for (const GridPoint& point : points_) result.variants.push_back({.point = point});
    for (size_t i = 0; i < runs_.size() && result.end == RunEnd::Finished; ++i) {
      SweepVariant& variant = result.variants[runs_[i].variant];
      variant.parameters = count_parameters(runs_[i].job.config.model).total();
      if (!is_selected(request_, runs_[i].job)) continue;
      tell_begin(i, observer);
      SweepRun run = train(engine_, runs_[i], control, observer);
      if (run.outcome && run.outcome->end == RunEnd::Interrupted) {
        result.end = RunEnd::Interrupted;
      } else {
        if (observer.run_ended) observer.run_ended(runs_[i].variant, run);
        variant.runs.push_back(std::move(run));
      }
      if (request_.runs == RunSelection::All && !request_.is_known) write(result, request_.out);
    }
    return result;
  }

  Engine& engine_;
  const SweepRequest& request_;
  const JobControl& control_;
  const SweepObserver& observer_;
  std::vector<GridPoint> points_;
  std::optional<PieceFolder> folder_;  // of a sweep that is shared
  std::vector<PlannedTraining> runs_;
};

}  // namespace

std::filesystem::path sweep_run_directory(const std::filesystem::path& out, const GridPoint& point,
                                          int seed) {
  return out / point.name() / fmt::format("seed-{}", seed);
}

std::vector<std::string> changes_of_variant(const std::vector<std::string>& common, const GridPoint& point) {
  std::vector<std::string> changes = common;
  changes.insert(changes.end(), point.changes.begin(), point.changes.end());
  // A model that replaces another must not take back what is changed of it.
  std::stable_partition(changes.begin(), changes.end(),
                        [](const std::string& change) { return change.starts_with("model="); });
  return changes;
}

SweepResult run_sweep(Engine& engine, const SweepRequest& request, const JobControl& control,
                      const SweepObserver& observer) {
  return Sweep(engine, request, control, observer).run();
}

}  // namespace sluice
