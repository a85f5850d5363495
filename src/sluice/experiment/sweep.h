// A sweep: a grid of training runs with several seeds each, one after another, or shared out over processes.
// What they say together is in sweep_table.h.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "sluice/dist/pieces.h"
#include "sluice/experiment/grid.h"
#include "sluice/train/training.h"

namespace sluice {

// Which of a sweep's runs are trained.
enum class RunSelection {
  All,
  Ended  // none: those that have come to their end are read, others are left out
};

struct SweepResult;

struct SweepRequest {
  std::string config;                     // path of a run's configuration
  std::vector<std::string> changes = {};  // made to it for every run: "steps=300"
  std::vector<GridAxis> axes = {};
  std::vector<GridPoint> points = {};  // the variants one by one, in place of axes
  int seeds = 3;                       // per variant
  int first_seed = 1;                  // they count from
  std::vector<TokenShard> shards;
  std::filesystem::path out;                // gets a directory per run, result.json and table.csv
  std::string tokenizer = {};               // as TrainingJob has it
  RunStart start = RunStart::New;           // otherwise runs that are there go on, and others begin
  std::vector<TokenShard> validation = {};  // as TrainingJob has it
  RunSelection runs = RunSelection::All;
  // Runs of which everything is known already are left out, and no files are written about the sweep, which
  // would lack them. None: nothing is known.
  std::function<bool(const GridPoint& point, int seed)> is_known = {};

  WorkSharing sharing = {};  // other processes work on the same sweep, each on runs that nobody has
  // Writes down more of the result than run_sweep() does itself, also of one that was interrupted. Before it
  // has returned, what processes share does not count as done.
  std::function<void(const SweepResult&)> publish = {};
};

struct SweepRun {
  int seed = 0;
  std::filesystem::path directory;
  std::optional<TrainingOutcome> outcome = {};  // none: it diverged
};

struct SweepVariant {
  GridPoint point;
  int64_t parameters = 0;
  std::vector<SweepRun> runs = {};  // those that have ended, by seed
};

struct SweepResult {
  std::vector<SweepVariant> variants;  // the first is what the others are compared with
  RunEnd end = RunEnd::Finished;       // or Interrupted
  bool is_elsewhere = false;           // another process has collected the results; there are none here
};

// Who watches a sweep; called on its thread.
struct SweepObserver {
  struct NextRun {
    size_t number, total;  // from 1
    std::string variant;
    int seed;
  };
  std::function<void(const NextRun&)> run_begins = {};
  std::function<void(const SweepRun&, const Divergence&)> run_diverged = {};
  std::function<void(size_t variant, const SweepRun&)> run_ended = {};  // also if it had ended before
  RunObserver run = {};                                                 // of each
};

// A seed is trained with every variant before the next begins: a sweep that is stopped has pairs. Every run
// is checked before the first begins. The files in `out` are written after each run. A run that diverges is a
// finding about its variant, and the others go on; diverged.txt in its directory keeps the reason, and while
// that is there, the run is not tried again. If the sweep is shared, each process trains what nobody else
// does until all runs have ended; one of them then has the result.
SweepResult run_sweep(Engine& engine, const SweepRequest& request, const JobControl& control = {},
                      const SweepObserver& observer = {});

std::filesystem::path sweep_run_directory(const std::filesystem::path& out, const GridPoint& point, int seed);

// What is changed for a variant: what is changed for all, then its own.
std::vector<std::string> changes_of_variant(const std::vector<std::string>& common, const GridPoint& point);

nlohmann::ordered_json to_json(const SweepResult& result);

}  // namespace sluice
