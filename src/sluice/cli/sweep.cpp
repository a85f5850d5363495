// A grid of training runs, one after another, and what they say together.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "sluice/ablate/grid.h"
#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/sweep_table.h"
#include "sluice/cli/training.h"
#include "sluice/cli/training_options.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

struct Request : TrainingOptions {
  std::vector<std::string> vary;
  int seeds = 3;
};

struct PlannedRun {
  size_t point;
  int seed;
  TrainingJob job;
};

std::vector<GridPoint> points_of(const Request& request, const Session& session) {
  std::vector<GridAxis> axes;
  for (const std::string& text : request.vary) {
    axes.push_back(parse_grid_axis(text, "--vary"));
    const std::string& key = axes.back().key;
    if (key == "seed") throw usage_error({.where = "--vary seed", .what = "seeds are counted by --seeds"});
    if (key == "dtype" && !session.options.dtype.empty())
      throw usage_error({.where = "--vary dtype", .what = "does not go with --dtype"});
  }
  std::vector<GridPoint> points = grid_points(axes);
  std::set<std::string> names = {".", ".."};
  for (const GridPoint& point : points) {
    if (names.insert(point.name()).second) continue;
    throw usage_error(
        {.where = "--vary", .what = fmt::format("{} is no name for a variant of its own", point.name())});
  }
  return points;
}

RunConfig config_of(const Request& request, const std::vector<std::string>& variant, int seed,
                    const Session& session) {
  std::vector<std::string> changes = request.all_changes(session);
  changes.insert(changes.end(), variant.begin(), variant.end());
  changes.push_back(fmt::format("seed={}", seed));
  RunConfig config = load_run_config(request.config, changes);
  if (config.validation.share == 0) {
    throw bad_input({.where = request.config,
                     .what = "a sweep compares validation losses",
                     .expected = "validation.share above 0"});
  }
  // A session's time is no measure that two runs have in common, let alone one that was stopped.
  if (config.stop.minutes > 0) {
    throw bad_input({.where = request.config,
                     .what = "a sweep compares runs of equal length",
                     .expected = "no stop.minutes"});
  }
  return config;
}

// All runs are looked at before the first: a bad one at the end costs no hours.
std::vector<PlannedRun> plan(const Request& request, const std::vector<GridPoint>& points,
                             const Session& session) {
  const std::vector<TokenShard> shards = open_shards(request.data);
  std::vector<PlannedRun> runs;
  for (size_t i = 0; i < points.size(); ++i) {
    for (int seed = 1; seed <= request.seeds; ++seed) {
      const fs::path out = fs::path(request.out) / points[i].name() / fmt::format("seed-{}", seed);
      const bool goes_on = request.resume && RunDirectory::has_run(out);
      runs.push_back({i,
                      seed,
                      {.config = config_of(request, points[i].changes, seed, session),
                       .shards = shards,
                       .out = out,
                       .tokenizer = request.tokenizer,
                       .start = goes_on ? RunStart::Resume : RunStart::New}});
      check_job(runs.back().job);
    }
  }
  return runs;
}

SweepRun train(const PlannedRun& planned, const Session& session) {
  SweepRun run{.seed = planned.seed, .directory = planned.job.out.string(), .diverged = false, .outcome = {}};
  try {
    run.outcome = run_training(planned.job, session);
  } catch (const Divergence& error) {
    // A finding about the variant, not a reason to leave the others out.
    session.log.warn("{}: {}", run.directory, error.what());
    run.diverged = true;
  }
  return run;
}

void run(const Request& request, const Session& session) {
  request.check("sweep");
  const std::vector<GridPoint> points = points_of(request, session);
  if (!request.resume) check_can_fill(request.out);
  const std::vector<PlannedRun> runs = plan(request, points, session);
  SweepTable table(points);
  bool interrupted = false;
  for (size_t i = 0; i < runs.size() && !interrupted; ++i) {
    session.log.info("run {} of {}: {}, seed {}", i + 1, runs.size(), points[runs[i].point].name(),
                     runs[i].seed);
    const SweepRun done = train(runs[i], session);
    interrupted = done.outcome.end == RunEnd::Interrupted;
    if (!interrupted) table.add(runs[i].point, done);
    table.write(request.out);
  }
  session.out << (session.options.json ? table.json_text() : table.text());
  if (interrupted)
    throw Error(ErrorKind::Interrupted, {.what = "the sweep was stopped", .hint = "--resume goes on"});
  session.log.info("the figures are in {0}/result.json and {0}/table.csv", request.out);
}

Action declare_sweep(Options& options) {
  auto request = std::make_shared<Request>();
  request->declare_config(options);
  options.repeated({.name = "--vary",
                    .value = "A.B=V,V",
                    .text = "Values of the configuration to go through; several: every combination"},
                   request->vary);
  options.integer({.name = "--seeds",
                   .value = "N",
                   .text = "Runs of each variant, with seeds 1 to N (default: 3)",
                   .low = 1,
                   .high = 1000},
                  request->seeds);
  request->declare(options, {.out = "Where the runs and the table go",
                             .changes = "Change a value of the configuration for all",
                             .resume = "Go on where the sweep in --out stopped, or with a larger one"});
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command sweep_command() {
  return {.name = "sweep",
          .summary = "Train a grid of variants and compare them over seeds",
          .description =
              "Trains every combination of the --vary values with several seeds, one run after another, each "
              "in a directory of its own, and prints validation loss with its 95 % interval over the seeds, "
              "sink, activation, gates and spikes. A run that diverges is counted and the others go on. "
              "Ctrl-C saves; --resume goes on, and takes more values or seeds than before.",
          .examples = {"sluice sweep configs/runs/tiny-baseline.json --data text.tokens --tokenizer "
                       "tokenizer.json --out sweep --vary "
                       "model=tiny-baseline,tiny-elementwise --vary schedule.peak=1e-3,3e-3 --seeds 3"},
          .dtype = {.text = "Products in bf16 or f32 (default: as the configuration says)",
                    .words = {"f32", "bf16"}},
          .declare = declare_sweep};
}

}  // namespace sluice::cli
