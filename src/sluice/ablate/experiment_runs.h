// An experiment's runs: trained as a sweep, each measured on text that it never saw, pairs of seeds compared
// at the looks that were planned.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sluice/ablate/experiment.h"
#include "sluice/ablate/statistics.h"
#include "sluice/ablate/sweep.h"

namespace sluice {

// Of a run's last weights. NaN stands for what the run does not have.
struct MeasuredTraining {
  std::string variant;
  int seed = 0;
  bool diverged = false;  // then nothing else was measured
  double validation_loss = 0;
  double sink = 0;            // mean attention on the first token, over 200 held-out sequences
  double max_activation = 0;  // largest |block output| of a sequence: mean over layers and sequences
  double gate_mean = 0;       // of the gate at g1
  double copy_accuracy = 0, excess = 0;  // of backcopy texts (eval/backcopy_score.h)
  int64_t spikes = 0;
  double seconds = 0;
};

// One number of a run, as a column of tables.
struct ExperimentFigure {
  const char* key;
  const char* title;
  double MeasuredTraining::*value;
  int digits;
  bool is_compared;  // with the first variant
};
std::span<const ExperimentFigure> experiment_figures();

struct ExperimentResult {
  Experiment experiment;
  std::vector<std::string> variants = {};   // names, in the order of the grid
  std::vector<int64_t> parameters = {};     // of each
  std::vector<MeasuredTraining> runs = {};  // that have ended
  int64_t planned = 0;                      // runs
  double sink_floor = 0;                    // what uniform attention would put on the first token
  int64_t steps = 0, tokens = 0;            // of each run
  double seconds = 0;                       // of training, all runs
};

// A run that did not diverge and, where that is asked, solved its task.
bool run_counts(const Experiment& experiment, const MeasuredTraining& run);

// Of the runs that count; none if there is none.
std::optional<MeanInterval> figure_over_seeds(const ExperimentResult& result, const std::string& variant,
                                              double MeasuredTraining::*value);

// How a variant differs from the first, at the last look that was reached.
struct PlannedDifference {
  int64_t pairs = 0;                            // of seeds whose runs both count, all that there are
  std::optional<ExperimentLook> look = {};      // none: the first one is still to come
  std::optional<MeanInterval> difference = {};  // of the look's pairs, the first by seed; of all before a
                                                // look. Its interval leaves out the look's error
};
PlannedDifference planned_difference(const ExperimentResult& result, const std::string& variant,
                                     double MeasuredTraining::*value);

struct ExperimentRequest {
  Experiment experiment;
  std::filesystem::path home;  // gets the text, and a directory of runs named like the experiment
  RunSelection runs = RunSelection::All;
};

// Trains what is missing, then measures all runs that have ended. Interrupted training is an Error of that
// kind.
ExperimentResult run_experiment(Engine& engine, const ExperimentRequest& request,
                                const JobControl& control = {}, const SweepObserver& observer = {});

nlohmann::ordered_json to_json(const ExperimentResult& result);
std::string to_text(const ExperimentResult& result);

}  // namespace sluice
