// One forward and backward pass over one chunk: what the gradients at all gates say about changing them. How
// passes become estimates is in gate_estimates.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/ablate/gate_estimates.h"

namespace sluice {

// A gate of the model: a position in a layer.
struct GateSite {
  std::string tap;
  int64_t layer = 0;
  int64_t heads = 0, width = 0;  // of its values, per token
};

// By position, then layer.
std::vector<GateSite> gate_sites(const ModelConfig& config);

// What an action makes of every gate, [heads, width] for each site.
struct GateTargets {
  GateAction action = GateAction::Open;
  std::vector<std::vector<float>> values;  // by site
};

// Usage error if the action needs means that the request does not have.
GateTargets gate_targets(const std::vector<GateSite>& sites, GateAction action,
                         const std::vector<GateMean>& means);

// All gates of one tap applied as (1 - share) · value + share · target.
struct GatePath {
  std::string tap;
  double share = 0;
};

struct GatePassRequest {
  const std::vector<GateSite>& sites;
  std::vector<const GateTargets*> targets;  // whose effects are summed; one if there is a path
  std::optional<GatePath> path = {};        // none: gates stay as they are
  Activations activations = Activations::Recompute;
};

// In nats over the chunk's predicted tokens.
struct GatePass {
  double nll = 0;
  // [target][site][head]: sums of gradient · (target - value). Empty where the path's tap is another.
  std::vector<std::vector<std::vector<double>>> changes;
};

// Fails if the likelihood is not finite.
GatePass run_gate_pass(const LoadedModel& model, const Chunk& chunk, const GatePassRequest& request);

}  // namespace sluice
