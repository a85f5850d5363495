// What patching found, as JSON and as text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/probe/patch.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

constexpr size_t kShownPieces = 5;

ordered_json prompt_json(const PatchPrompt& prompt) {
  return {{"ids", prompt.ids}, {"tokens", prompt.tokens}, {"logit_difference", prompt.difference}};
}

ordered_json answer_json(const PatchAnswer& answer) {
  return {{"id", answer.id}, {"text", answer.text}};
}

struct ShownPiece {
  std::string name;
  RecoveredShare share;
};

// From the piece that moves the answer furthest, whichever way.
std::string pieces_text(std::vector<ShownPiece> pieces, PatchDirection direction) {
  const size_t beyond =
      std::erase_if(pieces, [](const ShownPiece& piece) { return !std::isfinite(piece.share); });
  std::ranges::stable_sort(pieces, std::ranges::greater{}, [&](const ShownPiece& piece) {
    return std::abs(piece.share - untouched_share(direction));
  });
  const size_t more = pieces.size() - std::min(pieces.size(), kShownPieces);
  pieces.resize(pieces.size() - more);
  std::string text;
  for (const auto& [name, share] : pieces) text += fmt::format("    {:<28} {:7.3f}\n", name, share);
  if (more > 0) text += fmt::format("    and {} more, which do less\n", more);
  if (beyond > 0) text += fmt::format("    and {} that are not finite\n", beyond);
  return text;
}

std::string map_text(const PatchMap& map, const PatchResult& result) {
  std::vector<ShownPiece> positions, heads;
  for (const PatchedLayer& layer : map.layers) {
    for (size_t i = 0; i < layer.positions.size(); ++i)
      positions.push_back({fmt::format("layer {} position {}", layer.layer, i), layer.positions[i]});
    for (size_t i = 0; i < layer.heads.size(); ++i)
      heads.push_back({fmt::format("layer {} head {}", layer.layer, i), layer.heads[i]});
  }
  std::string text = fmt::format("{}\n", map.tap);
  if (!positions.empty())
    text += fmt::format("  by position\n{}", pieces_text(std::move(positions), result.direction));
  if (!heads.empty()) text += fmt::format("  by head\n{}", pieces_text(std::move(heads), result.direction));
  return text;
}

}  // namespace

double untouched_share(PatchDirection direction) {
  return direction == PatchDirection::Denoise ? 0 : 1;
}

std::string_view name_of(PatchDirection direction) {
  return direction == PatchDirection::Denoise ? "denoise" : "noise";
}

ordered_json to_json(const PatchResult& result) {
  ordered_json json = {{"direction", name_of(result.direction)},     {"clean", prompt_json(result.clean)},
                       {"corrupted", prompt_json(result.corrupted)}, {"answer", answer_json(result.answer)},
                       {"wrong", answer_json(result.wrong)},         {"maps", ordered_json::array()}};
  for (const PatchMap& map : result.maps) {
    ordered_json layers = ordered_json::array();
    for (const PatchedLayer& layer : map.layers) {
      ordered_json row = {{"layer", layer.layer}};
      if (!layer.positions.empty()) row["positions"] = layer.positions;
      if (!layer.heads.empty()) row["heads"] = layer.heads;
      layers.push_back(std::move(row));
    }
    json["maps"].push_back({{"tap", map.tap}, {"layers", std::move(layers)}});
  }
  return json;
}

std::string to_text(const PatchResult& result) {
  std::string text =
      fmt::format("logit difference {:.3f} after the clean prompt, {:.3f} after the corrupted\n",
                  result.clean.difference, result.corrupted.difference);
  text += result.direction == PatchDirection::Denoise
              ? "share that clean values bring back to the corrupted prompt (0 nothing, 1 all)\n"
              : "share that is left of the clean prompt's with corrupted values (1 all, 0 nothing)\n";
  for (const PatchMap& map : result.maps) text += map_text(map, result);
  return text;
}

}  // namespace sluice
