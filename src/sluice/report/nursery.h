// The demo's first exhibit: a text in which a head has work after a few letters only (data/backcopy.h), and
// two models trained on it, without a gate and with one per head. Both are scored on the task and looked at
// over held-out text. What it comes to is in nursery_findings.h, how it is told in nursery_report.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sluice/analysis/comparison.h"
#include "sluice/data/token_shard.h"
#include "sluice/eval/backcopy_score.h"
#include "sluice/report/demo_observer.h"
#include "sluice/train/metrics.h"
#include "sluice/train/training.h"

namespace sluice {

struct NurseryRequest {
  std::filesystem::path out;  // a directory; the runs become nursery-baseline and nursery-headwise in it
  int64_t steps = 1500;       // of each model, as configs/runs/nursery-baseline.json has them
};

struct NurseryModel {
  std::string variant;  // "nursery-baseline"
  TrainingOutcome outcome = {};
  RunMetrics metrics = {};
  BackcopyScore score = {};
};

struct NurseryResult {
  std::filesystem::path out;
  uint64_t chain_seed = 0;
  TokenShardInfo corpus = {};
  std::vector<NurseryModel> models = {};  // the baseline first
  ModelComparison looked = {};            // its models are these, in this order
  double seconds = 0;                     // of everything

  const StudiedModel& studied(size_t model) const { return looked.study.models[model]; }
};

// Throws an Error of kind Interrupted if it is cancelled.
NurseryResult run_nursery(Engine& engine, const NurseryRequest& request, const JobControl& control = {},
                          const DemoObserver& observer = {});

}  // namespace sluice
