#include "sluice/probe/patch_taps.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/probe/patch.h"
#include "sluice/probe/tap_presence.h"

namespace sluice {
namespace {

int64_t patched_heads(const TapPoint& point, const ModelConfig& config) {
  if (point.axes == TapAxes::QueryHeads) return config.heads;
  if (point.axes == TapAxes::KeyValueHeads) return config.kv_heads;
  for (const GateSpec& gate : config.gates) {
    if (gate.position->tap.name == point.name && gate.position->tensor != GatedTensor::Hidden)
      return config.sizes().gated_heads(gate.position);
  }
  return 0;
}

// Layers of the model that a pattern means and that have the point.
std::vector<int64_t> layers_with(const TapPoint& point, const TapPattern& pattern,
                                 const ModelConfig& config) {
  std::vector<int64_t> layers;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    if (pattern.layers().contains(layer) && has_point(point, layer, config)) layers.push_back(layer);
  }
  return layers;
}

// Why a pattern that fits some point names nothing to patch.
Error nothing_to_patch(const TapPattern& pattern, const ModelConfig& config) {
  const auto fitting =
      std::ranges::find_if(points::kAll, [&](const TapPoint& point) { return pattern.matches_point(point); });
  const std::string where = fmt::format("--tap {}", pattern.text());
  if (fitting->place == TapPlace::Model)
    return usage_error({.where = where,
                        .what = "stands outside the layers",
                        .hint = "resid is the stream behind each of them"});
  if (fitting->access == TapAccess::ReadOnly)
    return usage_error({.where = where,
                        .what = fmt::format("{} can only be read", fitting->name),
                        .hint = "attn.mixed is what attention makes"});
  return usage_error({.where = where, .what = missing_point(pattern, config)});
}

void check_layers(const TapPattern& pattern, const ModelConfig& config) {
  if (pattern.layers().largest() < config.layers) return;
  throw usage_error({.where = fmt::format("--tap {}", pattern.text()),
                     .what = "no such layer",
                     .expected = fmt::format("0 to {}", config.layers - 1),
                     .got = std::to_string(pattern.layers().largest())});
}

}  // namespace

std::vector<PatchTap> patch_taps(std::span<const std::string> patterns, const ModelConfig& config) {
  std::vector<PatchTap> taps;
  for (const std::string& text : patterns) {
    const TapPattern pattern(text);
    check_layers(pattern, config);
    bool any = false;
    for (const TapPoint& point : points::kAll) {
      if (!pattern.matches_point(point) || point.place == TapPlace::Model ||
          point.access == TapAccess::ReadOnly)
        continue;
      std::vector<int64_t> layers = layers_with(point, pattern, config);
      if (layers.empty()) continue;
      any = true;
      const bool there =
          std::ranges::any_of(taps, [&](const PatchTap& tap) { return tap.point.name == point.name; });
      if (!there) taps.push_back({point, patched_heads(point, config), std::move(layers)});
    }
    if (!any) throw nothing_to_patch(pattern, config);
  }
  return taps;
}

std::vector<std::string> default_patch_taps(const ModelConfig& config) {
  std::vector<std::string> taps = {std::string(points::kResidual.name), std::string(points::kGated.name)};
  for (const GatePositionRow& row : kGatePositionRows) {
    if (std::ranges::any_of(config.gates,
                            [&](const GateSpec& gate) { return gate.position == GatePosition(row); }))
      taps.emplace_back(row.tap.name);
  }
  return taps;
}

}  // namespace sluice
