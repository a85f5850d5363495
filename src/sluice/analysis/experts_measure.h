// How a router spreads its tokens over the experts of a layer.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sluice/tensor/tensor.h"

namespace sluice {

struct ExpertsLayer {
  int64_t layer = 0;
  int64_t tokens = 0;
  std::vector<int64_t> counts = {};  // [E]: tokens that chose each expert
  double router_entropy_sum = 0;     // over tokens, of the router's probabilities, in nats

  int64_t experts() const { return static_cast<int64_t>(counts.size()); }
  double share(size_t expert) const;  // of all choices; shares sum up to 1

  // Of the shares, as a part of the largest possible: 1 for a perfect balance, 0 if one expert has all.
  double load_entropy() const;
  double largest_load() const;  // the largest share, times the number of experts: 1 for a perfect balance
  int64_t dead() const;         // experts that no token chose
  // Of a token's probabilities, likewise: 1 if the router has no preference.
  double router_entropy() const;
};

// [N, E], from the taps mlp.experts (weights, 0 for those that were not chosen) and mlp.router.
void add_choices(ExpertsLayer& layer, const Tensor& weights);
void add_router(ExpertsLayer& layer, const Tensor& probabilities);

nlohmann::ordered_json to_json(const std::vector<ExpertsLayer>& layers);

// Over all layers: what a validation notes.
struct ExpertsPulse {
  double load_entropy = 0, largest_load = 0, router_entropy = 0;  // means over layers
  int64_t dead = 0;                                               // in all layers together
};

ExpertsPulse pulse_of(const std::vector<ExpertsLayer>& layers);

}  // namespace sluice
