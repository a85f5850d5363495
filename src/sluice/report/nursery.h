// The demo's first exhibits: a text in which a head has work after a few letters only (data/backcopy.h), and
// pairs of models trained on it, without a gate and with one per head. Both of a pair are scored on the task
// and looked at over held-out text. What it comes to is in nursery_findings.h, how it is told in
// nursery_report.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sluice/analysis/comparison.h"
#include "sluice/data/token_shard.h"
#include "sluice/eval/backcopy_score.h"
#include "sluice/report/demo_observer.h"
#include "sluice/report/nursery_seeds.h"
#include "sluice/train/metrics.h"
#include "sluice/train/training.h"

namespace sluice {

// Two models that are grown alike, but for the gate. Their seed is one of those that are stored.
struct NurseryPair {
  const char* stem;   // of the presets and of what comes out: STEM-baseline, STEM-headwise
  const char* title;  // of the exhibit
  // experiments/STORED.json: the same with other seeds; what the variant with a gate per head is called
  // there.
  const char* stored;
  const char* stored_variant;
  const char* longer;  // the same for longer, with the same names of variants; null: there is none

  std::string baseline() const { return std::string(stem) + "-baseline"; }
  std::string gated() const { return std::string(stem) + "-headwise"; }
};

inline constexpr NurseryPair kNurseryPairs[] = {
    {"nursery-one", "A nursery where a sink grows", "nursery-one-head", "g1-head", "nursery-one-course"},
    {"nursery", "The nursery with several heads", "nursery", "nursery-headwise", nullptr}};
// Of several heads: what is broken, and what the explorer's story begins with.
inline constexpr const NurseryPair& kNursery = kNurseryPairs[1];

// The text of all pairs.
struct NurseryText {
  uint64_t chain_seed = 0;
  std::filesystem::path tokens;
  TokenShardInfo info = {};
};

NurseryText make_nursery_text(const std::filesystem::path& out, const Threads& threads,
                              const JobControl& control = {}, const DemoObserver& observer = {});

struct NurseryRequest {
  NurseryPair pair;
  // Stored of the pair. Read before anything is trained: whatever is wrong with them is known then.
  ExperimentResult seeds;
  NurseryText text;
  std::filesystem::path out;  // a directory; the runs become STEM-baseline and STEM-headwise in it
  int64_t steps = 1500;       // of each model, as configs/runs/nursery-baseline.json has them
};

struct NurseryModel {
  std::string variant;  // "nursery-baseline"
  int seed = 0;
  TrainingOutcome outcome = {};
  RunMetrics metrics = {};
  BackcopyScore score = {};
};

struct NurseryResult {
  NurseryPair pair;
  ExperimentResult seeds = {};  // stored of the pair
  std::filesystem::path out;
  NurseryText text = {};
  std::vector<NurseryModel> models = {};  // the baseline first
  ModelComparison looked = {};            // its models are these, in this order
  double seconds = 0;                     // of training, scoring and looking

  const StudiedModel& studied(size_t model) const { return looked.study.models[model]; }
};

// Throws an Error of kind Interrupted if it is cancelled.
NurseryResult run_nursery(Engine& engine, const NurseryRequest& request, const JobControl& control = {},
                          const DemoObserver& observer = {});

}  // namespace sluice
