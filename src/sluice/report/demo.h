// The demo: made-up text, a tokenizer trained on it, and a baseline and two gated models of the same size
// trained on that. How the result is told is in demo_report.h.
#pragma once

#include "sluice/data/token_shard.h"
#include "sluice/train/metrics.h"
#include "sluice/train/training.h"

namespace sluice {

struct DemoRequest {
  std::filesystem::path out;  // must not exist or be empty
  int64_t steps = 300;        // of each model
  Precision precision = Precision::Bf16;
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
};

// Who watches the demo; called on its thread.
struct DemoObserver {
  struct NextModel {
    std::string variant;
    int64_t parameters = 0, tokens = 0;
  };
  std::function<void(int64_t bytes)> corpus_begins = {};
  std::function<void(const NextModel&)> model_begins = {};
  RunObserver run = {};  // of each model
};

// Throws an Error of kind Interrupted if it is cancelled.
DemoResult run_demo(Engine& engine, const DemoRequest& request, const JobControl& control = {},
                    const DemoObserver& observer = {});

}  // namespace sluice
