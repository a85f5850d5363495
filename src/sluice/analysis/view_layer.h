// What a view keeps of one layer, and what it measures there.
#pragma once

#include "sluice/analysis/distribution.h"
#include "sluice/analysis/prompt_view.h"

namespace sluice {

// Keeps what passes in one layer.
class LayerProbe : public Probe {
 public:
  bool wants(const TapName& name) const override;
  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override;

  LayerDetail detail;
  Tensor sink, entropy;  // [T, H]
};

// Values of a gate, and those of the first token apart. Those of several layers add up.
struct GateSpread {
  Distribution all;
  Moments first, others;

  void add(std::span<const float> values, size_t first_token);
  void add(const GateSpread& other);
  GateSummary summary() const;
};

// `output`: of the block.
ViewLayer view_layer(const LayerProbe& probe, const Tensor& output, const Threads& threads);

// By position, in the order of the first layer that has it.
std::vector<std::pair<std::string_view, GateSummary>> gates_of_all(std::span<const ViewLayer> layers);

}  // namespace sluice
