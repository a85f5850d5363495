// The demo: a nursery in which an attention sink grows, in one head and in several (nursery.h), then made-up
// text, a tokenizer trained on it, and a baseline and two gated models of the same size trained on that; at
// last those of several heads broken. How the result is told is in demo_report.h.
#pragma once

#include "sluice/data/token_shard.h"
#include "sluice/report/demo_breaking.h"
#include "sluice/report/demo_observer.h"
#include "sluice/report/nursery.h"
#include "sluice/train/metrics.h"
#include "sluice/train/training.h"

namespace sluice {

struct DemoRequest {
  std::filesystem::path out;  // must not exist or be empty
  int64_t steps =
      300;  // of each model of the text; those of the nursery, which are small, take five times as many
  Precision precision =
      Precision::Bf16;  // of the text's models; the nursery is trained in f32, as its stored seeds are
};

struct DemoModel {
  std::string variant;
  int64_t parameters = 0;
  TrainingOutcome outcome = {};
  RunMetrics metrics = {};
};

struct DemoResult {
  std::filesystem::path out;
  std::string prompt;  // of the samples
  TokenShardInfo corpus;
  std::vector<DemoModel> models = {};
  std::vector<NurseryResult> nurseries = {};  // the smallest first
  DemoBreaking broken = {};
};

// The models that a demo has left in its directory: the nursery's pair of several heads first, since the
// explorer's story begins with it.
std::vector<std::filesystem::path> demo_models(const std::filesystem::path& demo);

// Throws an Error of kind Interrupted if it is cancelled.
DemoResult run_demo(Engine& engine, const DemoRequest& request, const JobControl& control = {},
                    const DemoObserver& observer = {});

}  // namespace sluice
