// Looking at values inside a model while it reads a text: chosen ones by name, with interventions or without.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/probe/intervention.h"
#include "sluice/probe/recorder.h"

namespace sluice {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;  // by the name of the tap

struct CaptureRequest {
  std::vector<TokenId> ids;
  std::vector<std::string> taps;  // patterns, as TapPattern takes them: "logits", "layers.0-3.attn.gate"
  std::vector<Intervention> interventions = {};
};

// What nobody asked for is not kept, and the logits are computed only if somebody did. Usage error for no
// tokens, for ids that the model does not have, if a pattern fits no tap of it, or if an intervention met no
// token.
NamedTensors capture(const LoadedModel& model, const CaptureRequest& request, const JobControl& control = {});

// Usage error if there are none, or if one is outside the model's vocabulary.
void check_ids(const LoadedModel& model, std::span<const TokenId> ids);

// The hidden states behind the final norm, layer by layer, as a pass over a long text takes a while.
Var hidden_states(const Context& context, const Decoder& decoder, std::span<const TokenId> ids,
                  const JobControl& control);

// Usage error for a layer that is not there.
std::vector<TapPattern> tap_patterns(const std::vector<std::string>& texts, int64_t layers);

// All that was recorded of a single pass over one sequence. Usage error if a pattern met nothing: an empty
// result would look as if the model had nothing to show there.
NamedTensors recorded_tensors(const Recorder& recorder, const std::vector<TapPattern>& patterns);

}  // namespace sluice
