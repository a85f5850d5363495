// Breaking what was trained, run by run, so that an effect has as many witnesses as there are seeds:
// interventions, the heads that make no difference, and what happens when those are removed and the model
// trains on.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/experiment/experiment.h"
#include "sluice/model/config.h"
#include "sluice/ops/engine.h"

namespace sluice {

// Held-out sequences that a broken model is measured on.
inline constexpr int64_t kBrokenSequences = 64;

// Whether a model has all that an intervention changes: gates may be in some layers or in none, and layers as
// many as there are. Usage error if there is no such tap in any model.
bool can_be_given(const NamedChanges& intervention, const ModelConfig& config);

struct BrokenRun {
  std::string variant = {};  // its point's name
  int seed = 0;

  double sink = 0;            // of the unbroken model
  double gate_with_sink = 0;  // correlation of a head's gate with its attention on the first token, mean over
                              // heads and layers; NaN: no gate
  struct Effect {
    // Change, nats per token. NaN: the model does not have what is changed; infinite: its perplexity is
    // beyond all numbers.
    double loss = 0;
    double sink = 0;  // of the broken model; NaN where the loss is no number
  };
  std::vector<Effect> effects = {};  // by intervention

  int64_t heads = 0;
  // Heads whose closing costs less than what counts as equal; none: heads that share keys and values are not
  // tried.
  std::optional<int64_t> removed = {};
  double removed_loss = 0;  // change when all of them are removed together
  double trained_on_loss =
      0;  // after training on: what is left of it against the whole model, trained on, too
};

struct BreakingRequest {
  const BreakingPlan& plan;
  double equal_loss = 0;
  std::filesystem::path run;
};

BrokenRun break_run(Engine& engine, const BreakingRequest& request, const JobControl& control = {});

}  // namespace sluice
