#include "sluice/ablate/run_entry.h"

#include <algorithm>
#include <array>

#include "sluice/nn/tap_points.h"

namespace sluice {
namespace {

constexpr std::array<std::string_view, 3> kBehindMixing = {points::kMixed.name, points::kGated.name,
                                                           points::kAttentionOut.name};
constexpr std::array<std::string_view, 4> kBehindMiddle = {points::kMiddle.name, points::kMlpInput.name,
                                                           points::kMlpOut.name, points::kResidual.name};

// Gates of what attention makes, not of what it is made from, come behind it.
BlockEntry entry_at_gate(const GatePositionRow& row) {
  if (row.part == BlockPart::FeedForward) return BlockEntry::Middle;
  const bool of_output =
      row.tensor == GatedTensor::Hidden || (row.tensor == GatedTensor::QueryHeads && !row.normed_and_rotated);
  return of_output ? BlockEntry::Mixed : BlockEntry::Stream;
}

// A run that changes any other point needs the whole block.
BlockEntry entry_at(std::string_view point) {
  if (std::ranges::find(kBehindMiddle, point) != kBehindMiddle.end()) return BlockEntry::Middle;
  if (std::ranges::find(kBehindMixing, point) != kBehindMixing.end()) return BlockEntry::Mixed;
  for (const GatePositionRow& row : kGatePositionRows)
    if (row.tap.name == point) return entry_at_gate(row);
  return BlockEntry::Stream;
}

RunEntry entry_at(const TapName& name, int64_t layers) {
  if (name.layer != TapName::kNoLayer) return {name.layer, entry_at(name.point)};
  return {name.point == points::kEmbedding.name ? RunEntry::kEmbedding : layers, BlockEntry::Stream};
}

}  // namespace

RunEntry entry_of_run(std::span<const Intervention> interventions, const ModelConfig& config) {
  RunEntry first{.layer = config.layers};
  for (const Intervention& each : interventions) {
    for (const TapPoint& point : points::kAll) {
      if (!each.tap.matches_point(point)) continue;
      const bool in_layers = point.place == TapPlace::Layer;
      for (int64_t layer = in_layers ? 0 : TapName::kNoLayer; layer < (in_layers ? config.layers : 0);
           ++layer)
        if (const TapName name{layer, point}; each.tap.matches(name))
          first = std::min(first, entry_at(name, config.layers));
    }
  }
  return first;
}

}  // namespace sluice
