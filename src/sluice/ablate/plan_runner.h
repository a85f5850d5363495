// Runs of a plan over chunks of text. What runs have in common is computed once; every figure is bitwise that
// of an evaluation of its own with the same interventions.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sluice/ablate/plan.h"
#include "sluice/ablate/run_entry.h"
#include "sluice/ablate/run_measures.h"
#include "sluice/base/job_control.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/probe/calibration.h"

namespace sluice {

struct RunWave;

struct PlanRunnerOptions {
  int64_t memory = int64_t{1} << 30;  // bytes beside the weights that runs of one chunk may take together
  bool divergence = true;             // kl and changed_top1; else they stay 0
  bool signs = true;                  // sink and largest_activation; else they stay 0
};

class PlanRunner {
 public:
  // The calibration serves all_interventions(); null if none of them needs one. The model must outlive it.
  // Bad input if the plan does not fit the model, usage error if a calibration is missing.
  PlanRunner(const LoadedModel& model, const AblationPlan& plan,
             std::shared_ptr<const Calibration> calibration, const PlanRunnerOptions& options = {});

  // The first run of the plan that changes the same: perhaps itself.
  size_t first_equal(size_t run) const { return equal_[run]; }

  struct ChunkResult {
    RunMeasures base;               // of the unbroken model
    std::vector<RunMeasures> runs;  // in the order in which they were asked for
  };

  // The runs are indices into the plan; equal ones are measured once. `chunk_index` is the chunk's number in
  // the text, which shuffles and noise depend on. A run's likelihood may not be finite: that is what breaking
  // can do. Fails if the unbroken model's is not.
  ChunkResult measure(const Chunk& chunk, int64_t chunk_index, std::span<const size_t> runs,
                      const JobControl& control = {}) const;

 private:
  struct Job;
  ChunkResult measure_each(const Chunk& chunk, int64_t chunk_index, std::span<const size_t> runs,
                           const JobControl& control) const;
  void measure_wave(Job& job, const RunWave& wave) const;

  const LoadedModel& model_;
  std::vector<std::vector<Intervention>> interventions_;  // of each run
  std::vector<RunEntry> entries_;                         // likewise
  std::vector<size_t> equal_;                             // the first that it is equal to
  PlanRunnerOptions options_;
};

}  // namespace sluice
