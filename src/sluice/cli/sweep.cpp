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

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

struct Request {
  std::string config, out, tokenizer;
  std::vector<std::string> vary, changes, data;
  int seeds = 3;
  bool resume = false;
};

struct PlannedRun {
  size_t point;
  int seed;
  RunConfig config;
};

void check(const Request& request) {
  if (request.out.empty()) throw usage_error({.where = "sweep", .what = "--out is required"});
  if (request.data.empty()) {
    throw usage_error({.where = "sweep",
                       .what = "--data is required",
                       .hint = "sluice data tokenize makes token shards from text"});
  }
}

std::vector<GridPoint> points_of(const Request& request) {
  std::vector<GridAxis> axes;
  for (const std::string& text : request.vary) axes.push_back(parse_grid_axis(text, "--vary"));
  std::vector<GridPoint> points = grid_points(axes);
  std::set<std::string> names;
  for (const GridPoint& point : points) {
    if (!names.insert(point.name()).second)
      throw usage_error(
          {.where = "--vary", .what = fmt::format("two variants would be called {}", point.name())});
  }
  return points;
}

// All configurations are read before the first run: a bad one at the end costs no hours.
std::vector<PlannedRun> plan(const Request& request, const std::vector<GridPoint>& points,
                             const Session& session) {
  std::vector<PlannedRun> runs;
  for (size_t i = 0; i < points.size(); ++i) {
    for (int seed = 1; seed <= request.seeds; ++seed) {
      std::vector<std::string> changes = request.changes;
      changes.insert(changes.end(), points[i].changes.begin(), points[i].changes.end());
      changes.push_back(fmt::format("seed={}", seed));
      if (!session.options.dtype.empty()) changes.push_back("dtype=" + session.options.dtype);
      runs.push_back({i, seed, load_run_config(request.config, changes)});
      if (runs.back().config.validation.share > 0) continue;
      throw bad_input({.where = request.config,
                       .what = "a sweep compares validation losses",
                       .expected = "validation.share above 0"});
    }
  }
  return runs;
}

fs::path directory_of(const Request& request, const GridPoint& point, int seed) {
  return fs::path(request.out) / point.name() / fmt::format("seed-{}", seed);
}

SweepRun train(const Request& request, const PlannedRun& planned, const fs::path& out,
               const Session& session) {
  const bool goes_on = request.resume && RunDirectory::has_run(out);
  SweepRun run{.seed = planned.seed, .directory = out.string(), .diverged = false, .outcome = {}};
  std::vector<TokenShard> shards;
  for (const std::string& path : request.data) shards.emplace_back(path);
  try {
    run.outcome = run_training({.config = planned.config,
                                .shards = std::move(shards),
                                .out = out,
                                .tokenizer = request.tokenizer,
                                .start = goes_on ? RunStart::Resume : RunStart::New},
                               session);
  } catch (const Divergence& error) {
    // A finding about the variant, not a reason to leave the others out.
    session.log.warn("{}: {}", out.string(), error.what());
    run.diverged = true;
  }
  return run;
}

void run(const Request& request, const Session& session) {
  check(request);
  const std::vector<GridPoint> points = points_of(request);
  const std::vector<PlannedRun> runs = plan(request, points, session);
  if (!request.resume) check_can_fill(request.out);
  SweepTable table(points);
  bool interrupted = false;
  for (size_t i = 0; i < runs.size() && !interrupted; ++i) {
    const GridPoint& point = points[runs[i].point];
    session.log.info("run {} of {}: {}, seed {}", i + 1, runs.size(), point.name(), runs[i].seed);
    const SweepRun done = train(request, runs[i], directory_of(request, point, runs[i].seed), session);
    interrupted = done.outcome.end == RunEnd::Interrupted;
    if (interrupted) break;
    table.add(runs[i].point, done);
    table.write(request.out);
  }
  session.out << (session.options.json
                      ? table.json().dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                      : table.text());
  if (interrupted)
    throw Error(ErrorKind::Interrupted, {.what = "the sweep was stopped", .hint = "--resume goes on"});
  session.log.info("the figures are in {0}/result.json and {0}/table.csv", request.out);
}

Action declare_sweep(Options& options) {
  auto request = std::make_shared<Request>();
  options.argument({.name = "CONFIG", .value = "", .text = "A run's configuration (configs/runs)"},
                   Presence::Required, request->config);
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
  options.list({.name = "--data", .value = "FILE...", .text = "Token shards, made by sluice data tokenize"},
               request->data);
  options.text({.name = "--tokenizer", .value = "FILE", .text = "tokenizer.json to put into checkpoints"},
               request->tokenizer);
  options.text({.name = "--out", .value = "DIR", .text = "Where the runs and the table go"}, request->out);
  options.repeated({.name = "--set", .value = "A.B=V", .text = "Change a value of the configuration for all"},
                   request->changes);
  options.flag("--resume", request->resume, "Go on where the sweep in --out stopped, or with a larger one");
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
          .examples = {"sluice sweep configs/runs/tiny-baseline.json --data text.tokens --out sweep --vary "
                       "model=tiny-baseline,tiny-elementwise --vary schedule.peak=1e-3,3e-3 --seeds 3"},
          .dtype = {.text = "Products in bf16 or f32 (default: as the configuration says)",
                    .words = {"f32", "bf16"}},
          .declare = declare_sweep};
}

}  // namespace sluice::cli
