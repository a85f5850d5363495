#include "sluice/report/patch_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sluice/plot/panels.h"
#include "sluice/plot/token_text.h"
#include "sluice/report/figure_parts.h"

namespace sluice {
namespace {

constexpr NumberFormat kShareFormat{.style = NumberStyle::Fixed, .digits = 3};

// One of a tap's two maps.
struct PatchView {
  const PatchResult& result;
  const PatchMap& map;
  std::vector<RecoveredShare> PatchedLayer::*shares;
  std::string piece;               // "position", "head"
  std::vector<std::string> names;  // of the columns

  std::string stem() const { return fmt::format("{}_by_{}", map.tap, piece); }
  bool empty() const {
    return std::ranges::all_of(map.layers,
                               [&](const PatchedLayer& layer) { return (layer.*shares).empty(); });
  }
};

std::string token_name(const PatchPrompt& prompt, size_t i) {
  return prompt.tokens.empty() ? std::to_string(prompt.ids[i]) : token_text(prompt.tokens[i]);
}

// Where the prompts differ, both tokens.
std::vector<std::string> position_names(const PatchResult& result) {
  std::vector<std::string> names;
  for (size_t i = 0; i < result.clean.ids.size(); ++i) {
    const std::string clean = token_name(result.clean, i), corrupted = token_name(result.corrupted, i);
    names.push_back(clean == corrupted ? clean : fmt::format("{}/{}", clean, corrupted));
  }
  return names;
}

std::vector<std::string> head_names(const PatchMap& map) {
  std::vector<std::string> names;
  for (const PatchedLayer& layer : map.layers)
    while (names.size() < layer.heads.size()) names.push_back(std::to_string(names.size()));
  return names;
}

Table shares_table(const PatchView& view) {
  Table table{.name = view.stem(),
              .caption = fmt::format("Recovered share by layer and {}, {}", view.piece, view.map.tap),
              .columns = {{.name = "layer"}, {.name = view.piece}},
              .view = TableView::Folded};
  const bool tokens = view.piece == "position";
  if (tokens) table.columns.push_back({.name = "token", .kind = ColumnKind::Text});
  table.columns.push_back({.name = "recovered",
                           .note = "0: as after the corrupted prompt, 1: as after the clean one",
                           .format = kShareFormat});
  for (const PatchedLayer& layer : view.map.layers) {
    const std::vector<RecoveredShare>& shares = layer.*view.shares;
    for (size_t i = 0; i < shares.size(); ++i) {
      std::vector<TableCell> row = {layer.layer, static_cast<int64_t>(i)};
      if (tokens) row.emplace_back(view.names[i]);
      row.emplace_back(shares[i]);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

ReportFigure shares_figure(const PatchView& view) {
  const double centre = untouched_share(view.result.direction);  // its colour is no colour
  HeatMap map{.title = fmt::format("{} by layer and {}", view.map.tap, view.piece),
              .rows = view.map.layers.size(),
              .columns = view.names.size(),
              .x = {.label = view.piece, .names = view.names},
              .y = layer_axis(view.map.layers),
              // The same for all maps: what does next to nothing has next to no colour.
              .color = {.label = "recovered share",
                        .map = ColorMap::Diverging,
                        .extent = {.low = centre - 1, .high = centre + 1},
                        .centre = centre}};
  for (const PatchedLayer& layer : view.map.layers) {
    std::vector<double> shares = layer.*view.shares;
    shares.resize(view.names.size(), kNoValue);
    map.values.insert(map.values.end(), shares.begin(), shares.end());
  }
  const char* caption =
      view.result.direction == PatchDirection::Denoise
          ? "Clean values in the corrupted prompt's pass: 0 changes nothing, 1 brings the whole "
            "difference back."
          : "Corrupted values in the clean prompt's pass: 1 changes nothing, 0 takes the whole "
            "difference away.";
  return {view.stem(), figure_of(panel_of(std::move(map)), {caption}), caption, view.stem()};
}

struct StrongestPiece {
  int64_t layer = 0;
  size_t index = 0;
  RecoveredShare share = 0;
};

// What moves the answer furthest, whichever way. None if nothing is finite.
std::optional<StrongestPiece> strongest_piece(const PatchView& view) {
  std::optional<StrongestPiece> most;
  const auto effect = [&](RecoveredShare share) {
    return std::abs(share - untouched_share(view.result.direction));
  };
  for (const PatchedLayer& layer : view.map.layers) {
    const std::vector<RecoveredShare>& shares = layer.*view.shares;
    for (size_t i = 0; i < shares.size(); ++i) {
      if (!std::isfinite(shares[i]) || (most && effect(shares[i]) <= effect(most->share))) continue;
      most = {layer.layer, i, shares[i]};
    }
  }
  return most;
}

std::string strongest_text(const PatchView& view) {
  const auto most = strongest_piece(view);
  if (!most) return fmt::format("{} by {}: nothing finite.", view.map.tap, view.piece);
  const char* says = view.result.direction == PatchDirection::Denoise ? "brings back" : "leaves";
  return fmt::format("{} by {}: layer {}, {} {} {} {} of the difference.", view.map.tap, view.piece,
                     most->layer, view.piece, most->index, says,
                     number_text(most->share, {.style = NumberStyle::Percent, .digits = 1}));
}

std::string answer_text(const PatchAnswer& answer) {
  return answer.text.empty() ? fmt::format("token {}", answer.id)
                             : fmt::format("\"{}\"", token_text(answer.text));
}

std::string prompt_text(const PatchPrompt& prompt) {
  std::string text;
  for (size_t i = 0; i < prompt.ids.size(); ++i)
    text += (i > 0 && prompt.tokens.empty() ? " " : "") + token_name(prompt, i);
  return text;
}

std::vector<PatchView> views_of(const PatchResult& result, const PatchMap& map) {
  const PatchView positions{result, map, &PatchedLayer::positions, "position", position_names(result)};
  const PatchView heads{result, map, &PatchedLayer::heads, "head", head_names(map)};
  std::vector<PatchView> views;
  if (!positions.empty()) views.push_back(positions);
  if (!heads.empty()) views.push_back(heads);
  return views;
}

}  // namespace

Report patch_report(const PatchResult& result, ReportHeader header) {
  Report report{.title = "Patching between two prompts", .header = std::move(header)};
  report.summary.push_back(Paragraph{fmt::format(
      "The logit of {} minus that of {} is {} after the clean prompt and {} after the corrupted one. A share "
      "of 1 is the former, 0 the latter.",
      answer_text(result.answer), answer_text(result.wrong), number_text(result.clean.difference),
      number_text(result.corrupted.difference))});
  BulletList strongest_pieces;
  for (const PatchMap& map : result.maps) {
    Section section{.title = map.tap};
    for (const PatchView& view : views_of(result, map)) {
      section.blocks.emplace_back(shares_figure(view));
      section.blocks.emplace_back(shares_table(view));
      strongest_pieces.items.push_back(strongest_text(view));
    }
    report.sections.push_back(std::move(section));
  }
  report.summary.emplace_back(std::move(strongest_pieces));
  report.summary.emplace_back(Preformatted{prompt_text(result.clean), "clean"});
  report.summary.emplace_back(Preformatted{prompt_text(result.corrupted), "corrupted"});
  report.summary.emplace_back(
      Note{"One pair of prompts shows what happens in it, not what always happens. Shares need not add up: "
           "several places may carry the same, or only together."});
  return report;
}

}  // namespace sluice
