// What the runs of an experiment say together: every run's figures, means over seeds, and differences of
// pairs at the looks that were planned.
#pragma once

#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sluice/experiment/broken_run.h"
#include "sluice/experiment/experiment_course.h"
#include "sluice/experiment/experiment_plan.h"
#include "sluice/experiment/statistics.h"

namespace sluice {

// Of a run's last weights. NaN stands for what the run does not have, or what was not measured.
struct MeasuredTraining {
  static constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

  std::string variant;  // its point's name
  int seed = 0;
  bool diverged = false;  // then nothing was measured of its weights
  double validation_loss = kNotMeasured;
  double sink = kNotMeasured;       // mean attention on the first token, over 200 held-out sequences
  double head_sink = kNotMeasured;  // of the head that has most of it
  double max_activation =
      kNotMeasured;                 // largest |block output| of a sequence: mean over layers and sequences
  double gate_mean = kNotMeasured;  // of the gate at g1
  double copy_accuracy = kNotMeasured, excess = kNotMeasured;  // of backcopy texts (eval/backcopy_score.h)
  double spikes = 0;  // of the loss; of one that diverged: until then, as are its seconds
  double seconds = kNotMeasured;
  std::string machine = {};  // that measured it, as a rule right after training it
};

// One number of a run, as a column of tables.
struct ExperimentFigure {
  const char* key;
  const char* title;
  double MeasuredTraining::*value;
  int digits;
  bool is_compared = false;  // with what a variant is compared with
  bool is_share = false;     // none is below 0 or above 1
  bool is_size = false;      // none is below 0
};
std::span<const ExperimentFigure> experiment_figures();

// What a mean over seeds, and a difference of such, can be at all; none: anything.
std::optional<Interval> possible_values(const ExperimentFigure& figure);
std::optional<Interval> possible_differences(const ExperimentFigure& figure);

struct RunCourse {
  std::string variant;  // its point's name
  int seed = 0;
  std::vector<CoursePoint> points = {};
};

struct ExperimentResult {
  Experiment experiment;
  std::string tuned = {};  // the condition that another experiment chose; empty: none
  std::vector<PlannedVariant> variants = {};
  std::vector<MeasuredTraining> runs = {};  // that have ended
  std::vector<RunCourse> courses = {};      // of the same, if the experiment asks for them
  std::vector<BrokenRun> broken = {};       // likewise
  int64_t planned = 0;                      // runs
  double sink_floor = 0;                    // what uniform attention would put on the first token
  int64_t steps = 0, tokens = 0;            // of each run
  double seconds = 0;                       // of training, all runs
  // Runs that ended under the rules of judgement of today, and under others; of the rest it is not known.
  int64_t judged_as_planned = 0, judged_anew = 0;
  std::map<std::string, int64_t> machines = {};  // how many runs each trained and measured
};

// A run that did not diverge and, where that is asked, solved its task.
bool run_counts(const Experiment& experiment, const MeasuredTraining& run);

// kSinkTimesUniform what uniform attention would give the first token, or more
// (analysis/attention_measure.h).
bool has_sink(const ExperimentResult& result, const MeasuredTraining& run);

// What was known at the look with so many pairs: runs of its seeds, and no later look.
ExperimentResult as_of_look(const ExperimentResult& result, int64_t pairs);

// Pairs of seeds that all comparisons have been looked at with; 0: not all have come to a look, or none is
// planned.
int64_t pairs_looked_at(const ExperimentResult& result);

std::vector<const MeasuredTraining*> counted_runs(const ExperimentResult& result,
                                                  const PlannedVariant& variant);

// Of the runs that count; none if there is none, or if it was not measured of one of them.
std::vector<double> values_over_seeds(const ExperimentResult& result, const PlannedVariant& variant,
                                      double MeasuredTraining::*value);
std::optional<MeanInterval> figure_over_seeds(const ExperimentResult& result, const PlannedVariant& variant,
                                              double MeasuredTraining::*value);

// How a variant differs from what it is compared with, by the seeds with which both runs count. A look that
// is planned at N pairs comes when those of the first N seeds have ended.
DifferenceAtLook planned_difference(const ExperimentResult& result, const PlannedVariant& variant,
                                    double MeasuredTraining::*value);

// The same of any two variants.
DifferenceAtLook difference_between(const ExperimentResult& result, const PlannedVariant& variant,
                                    const PlannedVariant& other, double MeasuredTraining::*value);

// How these differences change per tenfold of the conditions' axis: the slope of a line through those of a
// seed, for every seed with a pair under all conditions. The variant's name is without a condition.
DifferenceAtLook planned_slope(const ExperimentResult& result, const std::string& variant,
                               double MeasuredTraining::*value);

// What a variant is compared with; itself if with nothing.
const PlannedVariant& reference_of(const ExperimentResult& result, const PlannedVariant& variant);
bool is_compared(const ExperimentResult& result, const PlannedVariant& variant);

nlohmann::ordered_json to_json(const ExperimentResult& result);
std::string to_text(const ExperimentResult& result);

}  // namespace sluice
