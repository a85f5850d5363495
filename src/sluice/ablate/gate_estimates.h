// How much opening, closing or averaging each gate would change the likelihood of a text, estimated for all
// heads of all layers at once from gradients, without breaking one after the other.
//
// Write g for the values of a gate and t for what an action puts in their place (1, 0, a mean).
//
// First order: the sum of dL/dg · (t - g) over the tokens and channels of a head, from one forward and
// backward pass of the unbroken model. Exact for small changes; a gate that saturates is misjudged.
//
// Integrated gradients: all gates of one position in all layers apply (1 - a) · g + a · t, where g is what
// the model computes in this partly broken state and a takes the middles of `steps` equal parts of [0, 1]. A
// head's estimate is the mean over a of the sum of dL/d(applied) · (t - g). Together the heads add up to the
// effect of changing all gates of the position at once, up to the error of the midpoint rule. Of changing one
// head alone it is an estimate along a path that is not its own: the others change at the same time. For that
// each head would need passes of its own, which is what this avoids.
//
// A layer's estimate is the sum of its heads', a position's that of its layers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/eval/bootstrap.h"
#include "sluice/eval/chunked_text.h"
#include "sluice/infer/loaded_model.h"

namespace sluice {

enum class GateAction { Open, Close, Mean };  // every value becomes 1, 0, a given mean

std::string_view name_of(GateAction action);  // "open", "close", "mean"

enum class EstimateMethod { FirstOrder, Integrated };

std::string_view name_of(EstimateMethod method);  // "first_order", "integrated"

// What GateAction::Mean puts in the place of one gate's values.
struct GateMean {
  std::string tap;  // "attn.gate"
  int64_t layer = 0;
  std::vector<float> values;  // one in all, one per head, or one per channel of every head
};

struct GateEstimateRequest {
  ChunkedText text;
  std::vector<int64_t> chunks = {};  // of the text, by index; empty: all
  std::vector<GateAction> actions = {GateAction::Open, GateAction::Close};
  std::vector<GateMean> means = {};                  // for GateAction::Mean: one for each gate of the model
  int64_t steps = 0;                                 // of integrated gradients; 0: first order alone
  Activations activations = Activations::Recompute;  // Keep: faster, and much more memory
};

// A change of the mean negative log-likelihood per predicted token; above 0 the text becomes less likely.
struct EstimatedEffect {
  double nll = 0;
  std::optional<Interval> ci95 = {};  // over chunks; none for one chunk. Of the estimate, not of its error
};

struct LayerEstimate {
  int64_t layer = 0;
  EstimatedEffect whole = {};
  std::vector<EstimatedEffect> heads = {};  // of the gated tensor; one if it has no heads
};

// One action at one position, by one method.
struct ActionEstimates {
  std::string tap;  // "attn.gate"
  GateAction action = GateAction::Open;
  EstimateMethod method = EstimateMethod::FirstOrder;
  EstimatedEffect all = {};
  std::vector<LayerEstimate> layers = {};  // those that have the gate

  // Of a layer, or of one of its heads; null if there is none.
  const EstimatedEffect* find(int64_t layer, std::optional<int64_t> head) const;
};

struct GateEstimates {
  double nll = 0;      // of the unbroken model, per predicted token
  int64_t tokens = 0;  // predicted
  int64_t chunks = 0;
  int64_t steps = 0;
  int64_t passes = 0;                           // forward and backward, per chunk
  std::vector<ActionEstimates> estimates = {};  // by tap, then action, then method

  // None if it was not asked for.
  const ActionEstimates* find(std::string_view tap, GateAction action, EstimateMethod method) const;
};

nlohmann::ordered_json to_json(const GateEstimates& estimates);
// The `rows` largest effects of each list.
std::string to_text(const GateEstimates& estimates, size_t rows = 10);

// Gradients of gates alone: none of a weight is computed or kept, so weights may be bf16 and stay in their
// file. A usage error if the model has no gates, if its weights are int8, which nothing can be differentiated
// through, or if a mean is missing or does not fit. Fails if a likelihood is not finite.
GateEstimates estimate_gates(const LoadedModel& model, const GateEstimateRequest& request,
                             const JobControl& control = {});

// What an intervention was measured to do.
struct ExactEffect {
  int64_t layer = 0;
  std::optional<int64_t> head = {};  // none: the whole layer
  double nll = 0;                    // change per predicted token
};

struct EstimateAgreement {
  int64_t count = 0;                            // effects that are known both ways
  std::optional<double> rank_correlation = {};  // Spearman's; none of fewer than three or without variation
  // Of the absolute difference. None of integrated gradients: a share of changing all gates together has
  // another size than the effect of changing one, so only its rank says something.
  std::optional<double> mean_error = {};
};

nlohmann::ordered_json to_json(const EstimateAgreement& agreement);

// How well estimates rank what was measured: heads against heads, layers against layers.
EstimateAgreement head_agreement(const ActionEstimates& estimates, std::span<const ExactEffect> exact);
EstimateAgreement layer_agreement(const ActionEstimates& estimates, std::span<const ExactEffect> exact);

}  // namespace sluice
