#include "sluice/probe/tap_presence.h"

#include <algorithm>

namespace sluice {

bool has_point(const TapPoint& point, int64_t layer, const ModelConfig& config) {
  switch (point.axes) {
    case TapAxes::Gate:
      return std::ranges::any_of(config.gates, [&](const GateSpec& gate) {
        return gate.position->tap.name == point.name && gate.in_layer(layer);
      });
    case TapAxes::Experts:
    case TapAxes::ExpertOutputs:
      return config.has_experts(layer);
    case TapAxes::Token:  // the shared expert's gate
      return config.has_experts(layer) && config.moe->shared_width > 0 && config.moe->shared_gate;
    default:
      return true;
  }
}

bool has_point(const TapPoint& point, const TapPattern& pattern, const ModelConfig& config) {
  for (int64_t layer = 0; layer < config.layers; ++layer)
    if (pattern.layers().contains(layer) && has_point(point, layer, config)) return true;
  return false;
}

std::string missing_point(const TapPattern& pattern, const ModelConfig& config) {
  const auto means = [&](TapAxes axes) {
    return std::ranges::any_of(points::kAll, [&](const TapPoint& point) {
      return point.axes == axes && pattern.matches_point(point);
    });
  };
  if (means(TapAxes::Gate)) return "the model has no gate there";
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    // Experts are there, so what is missing is the one that all tokens share, or its gate.
    if (!pattern.layers().contains(layer) || !config.has_experts(layer)) continue;
    return config.moe->shared_width > 0 ? "the model's shared expert has no gate"
                                        : "the model has no shared expert";
  }
  return "the model has no experts there";
}

}  // namespace sluice
