// What the runs of an experiment say together: every run's figures, means over seeds, and differences of
// pairs at the looks that were planned.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sluice/experiment/experiment.h"
#include "sluice/experiment/experiment_breaking.h"
#include "sluice/experiment/experiment_course.h"
#include "sluice/experiment/statistics.h"

namespace sluice {

// Of a run's last weights. NaN stands for what the run does not have.
struct MeasuredTraining {
  std::string variant;  // its point's name
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
  bool is_compared;  // with what a variant is compared with
};
std::span<const ExperimentFigure> experiment_figures();

struct RunCourse {
  std::string variant;  // its point's name
  int seed = 0;
  std::vector<CoursePoint> points = {};
};

struct ExperimentResult {
  Experiment experiment;
  std::string tuned = {};  // the condition that another experiment chose; empty: none
  std::vector<PlannedVariant> variants = {};
  std::vector<MeasuredTraining> runs = {};       // that have ended
  std::vector<RunCourse> courses = {};           // of the same, if the experiment asks for them
  std::vector<BrokenRun> broken = {};            // likewise
  int64_t planned = 0;                           // runs
  double sink_floor = 0;                         // what uniform attention would put on the first token
  int64_t steps = 0, tokens = 0;                 // of each run
  double seconds = 0;                            // of training, all runs
  std::map<std::string, int64_t> machines = {};  // how many runs each trained and measured
};

// A run that did not diverge and, where that is asked, solved its task.
bool run_counts(const Experiment& experiment, const MeasuredTraining& run);

// Of the runs that count; none if there is none.
std::optional<MeanInterval> figure_over_seeds(const ExperimentResult& result, const PlannedVariant& variant,
                                              double MeasuredTraining::*value);

// How a variant differs from what it is compared with, at the last look that was reached.
struct PlannedDifference {
  int64_t pairs = 0;                            // of seeds whose runs both count, all that there are
  std::optional<ExperimentLook> look = {};      // none: the first one is still to come
  std::optional<MeanInterval> difference = {};  // of the look's pairs, the first by seed; of all before a
                                                // look. Its interval leaves out the look's error
};
PlannedDifference planned_difference(const ExperimentResult& result, const PlannedVariant& variant,
                                     double MeasuredTraining::*value);

// What a variant is compared with; itself if with nothing.
const PlannedVariant& reference_of(const ExperimentResult& result, const PlannedVariant& variant);
bool is_compared(const ExperimentResult& result, const PlannedVariant& variant);

nlohmann::ordered_json to_json(const ExperimentResult& result);
std::string to_text(const ExperimentResult& result);

}  // namespace sluice
