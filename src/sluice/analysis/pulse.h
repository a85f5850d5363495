// The few figures that tell a gated model from a baseline at a glance: attention sink, massive activation,
// gates, the load of experts. Collected while sequences pass; nothing is kept.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "sluice/analysis/activation_measure.h"
#include "sluice/analysis/attention_measure.h"
#include "sluice/analysis/experts_measure.h"
#include "sluice/base/json.h"
#include "sluice/data/packed_sequences.h"
#include "sluice/model/decoder.h"
#include "sluice/nn/tap.h"

namespace sluice {

struct Pulse {
  double sink = 0;            // mean probability on key 0 over heads and queries, then over layers
  double sink_floor = 0;      // what uniform causal attention would give: H_n / n
  double sink_late = 0;       // the same without the first 4 queries
  double max_activation = 0;  // mean over layers of the largest |block output|
  bool gated = false;
  double gate_mean = 0;
  double gate_closed = 0;                    // share below 0.1
  std::optional<ExpertsPulse> experts = {};  // none: the model has none
  int64_t sequences = 0, tokens = 0;
};

// Without the figures of gates or experts if there are none.
nlohmann::ordered_json to_json(const Pulse& pulse);

// Of such an object, which may have more. Numbers that it does not have are NaN: older versions wrote fewer.
Pulse read_pulse(const Json& json);

// Of the first sequences, at most so many. A few tell: each figure is a mean over thousands of values.
Pulse measure_pulse(const Context& context, const Decoder& decoder, const PackedSequences& sequences,
                    int64_t at_most = 4);

// What measure_pulse() listens with; for passes that are made anyway.
class PulseProbe : public Probe {
 public:
  void begin_pass(const PassTokens& tokens) override;
  bool wants(const TapName& name) const override;
  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override;

  // Of everything seen so far.
  Pulse pulse() const;

 private:
  Sequences pass_;  // of the pass that is under way
  std::vector<AttentionLayer> attention_;
  std::vector<ActivationLayer> activations_;
  std::vector<ExpertsLayer> experts_;
  double floor_ = 0;  // sum over sequences
  int64_t sequences_ = 0, tokens_ = 0;
  double gate_sum_ = 0;
  int64_t gate_count_ = 0, gate_closed_ = 0;
};

}  // namespace sluice
