// Measures that are kept by layer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sluice {

// The entry of a layer, a new one at its first visit.
template <class Layer>
Layer& entry_of(std::vector<Layer>& layers, int64_t layer) {
  const auto found = std::ranges::find(layers, layer, &Layer::layer);
  if (found != layers.end()) return *found;
  layers.emplace_back().layer = layer;
  return layers.back();
}

}  // namespace sluice
