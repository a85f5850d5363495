// Estimates from gradients, drawn: by layer and head, in their order, and beside what was measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/plot/panels.h"
#include "sluice/plot/scatter.h"
#include "sluice/report/ablation_figures.h"
#include "sluice/report/ablation_tables.h"
#include "sluice/report/figure_parts.h"

namespace sluice {
namespace {

constexpr size_t kRankedPlaces = 20;  // bars of a ranking
constexpr const char* kEstimateLabel = "estimated change of nll (nats per token)";

std::string estimated_on(const AblatedModel& model) {
  const AblatedText& text = model.texts.front();
  return fmt::format("{}: {} chunks of {} tokens of {}.", model.name, model.estimates->chunks,
                     text.chunk_length, text.name);
}

std::string method_words(EstimateMethod method) {
  return method == EstimateMethod::Integrated ? "share of changing all (integrated)" : "first order";
}

std::string title_of(const ActionEstimates& estimates) {
  return fmt::format("{} {}, {}", name_of(estimates.action), estimates.tap, method_words(estimates.method));
}

size_t heads_of_gate(const ActionEstimates& estimates) {
  size_t heads = 0;
  for (const LayerEstimate& layer : estimates.layers) heads = std::max(heads, layer.heads.size());
  return heads;
}

HeatMap estimate_map(const ActionEstimates& estimates) {
  double largest = 0;
  HeatMap map =
      head_map(estimates.layers, heads_of_gate(estimates), [&](const LayerEstimate& layer, size_t head) {
        if (head >= layer.heads.size()) return kNoValue;
        largest = std::max(largest, std::abs(layer.heads[head].nll));
        return layer.heads[head].nll;
      });
  map.title = title_of(estimates);
  map.color = {.label = kEstimateLabel, .map = ColorMap::Diverging};
  map.decimals = largest < 0.1 ? 4 : 3;
  return map;
}

struct RankedPlace {
  std::string name;  // "3.5": layer and head
  const EstimatedEffect* effect;
};

std::vector<RankedPlace> ranked_places(const ActionEstimates& estimates) {
  std::vector<RankedPlace> places;
  for (const LayerEstimate& layer : estimates.layers) {
    if (heads_of_gate(estimates) == 1) places.push_back({std::to_string(layer.layer), &layer.whole});
    for (size_t head = 0; heads_of_gate(estimates) > 1 && head < layer.heads.size(); ++head)
      places.push_back({fmt::format("{}.{}", layer.layer, head), &layer.heads[head]});
  }
  std::ranges::stable_sort(places, std::ranges::greater{},
                           [](const RankedPlace& place) { return std::abs(place.effect->nll); });
  places.resize(std::min(places.size(), kRankedPlaces));
  return places;
}

BarChart ranking_of(const ActionEstimates& estimates) {
  BarChart chart{.title = title_of(estimates),
                 .x = {.label = heads_of_gate(estimates) > 1 ? "layer.head" : "layer"},
                 .y = {.label = kEstimateLabel}};
  BarGroup& group = chart.groups.emplace_back();
  for (const auto& [name, effect] : ranked_places(estimates)) {
    chart.x.names.push_back(name);
    add_bar(group, {effect->nll, effect->ci95});
  }
  return chart;
}

// What figures of integrated gradients are shares of; nothing where there are none.
void add_shares_caption(std::vector<std::string>& caption, const AblatedModel& model) {
  if (model.estimates->steps == 0) return;
  caption.emplace_back(
      "First order: of changing one alone. Integrated: its share of what changing all gates together does; "
      "their "
      "sum is that, and a share is not what changing one alone does.");
}

}  // namespace

std::optional<ReportFigure> estimated_heads_figure(const AblatedModel& model) {
  Panels panels{.columns = 1, .caption = {estimated_on(model)}};
  add_shares_caption(panels.caption, model);
  for (const ActionEstimates& estimates : model.estimates->estimates)
    if (heads_of_gate(estimates) > 1) panels.panels.push_back(panel_of(estimate_map(estimates)));
  if (panels.panels.empty()) return {};
  return ReportFigure{named_for(model, "estimated_heads"), figure_of(std::move(panels)),
                      "What gradients say about changing heads' gates.", named_for(model, "estimates")};
}

ReportFigure estimated_ranking_figure(const AblatedModel& model) {
  Panels panels{.columns = 1,
                .caption = {estimated_on(model),
                            "Whiskers: 95 % intervals over chunks, of the estimate, not "
                            "of its error."}};
  add_shares_caption(panels.caption, model);
  for (const ActionEstimates& estimates : model.estimates->estimates)
    panels.panels.push_back(panel_of(ranking_of(estimates)));
  return {named_for(model, "estimated_ranking"), figure_of(std::move(panels)),
          fmt::format("The places with the largest estimates, {} at most.", kRankedPlaces),
          named_for(model, "estimates")};
}

std::optional<ReportFigure> estimates_figure(const AblatedModel& model) {
  Panels panels{.columns = 2};
  int64_t least = model.texts.front().chunks, most = 0;
  for (const EstimateComparison& comparison : compare_estimates(model)) {
    least = std::min(least, comparison.chunks);
    most = std::max(most, comparison.chunks);
    ScatterGroup points{.x = comparison.estimated, .y = comparison.exact};
    for (const std::optional<Interval>& interval : comparison.estimated_ci95)
      points.across.push_back(extent_of(interval));
    for (const PlaceEffect& place : comparison.places) points.upwards.push_back(extent_of(place.nll_ci95));
    for (const PlaceEffect& place : comparison.places)
      points.labels.push_back(place.head ? fmt::format("{}.{}", place.layer, *place.head)
                                         : std::to_string(place.layer));
    const bool alone = comparison.method == EstimateMethod::FirstOrder;
    Scatter scatter{.title = fmt::format("{} {}, {}", comparison.of_heads ? "heads" : "layers",
                                         comparison.action, method_words(comparison.method)),
                    .x = {.label = alone ? "estimated change of nll" : "share of changing all together"},
                    .y = {.label = "measured, one alone"},
                    .groups = {std::move(points)},
                    .marginals = Marginals::None};
    // Shares have another size by construction: nothing says that they should be equal.
    if (alone) scatter.fit = FitLine{.intercept = 0, .slope = 1, .name = "equal"};
    panels.panels.push_back(panel_of(std::move(scatter)));
  }
  if (panels.panels.empty()) return {};
  panels.caption = {
      fmt::format("Estimated: {} Measured: {}{} chunks of it. Whiskers: 95 % intervals over chunks.",
                  estimated_on(model), least < most ? fmt::format("{} to ", least) : "", most)};
  add_shares_caption(panels.caption, model);
  return ReportFigure{named_for(model, "estimates_against_exact"), figure_of(std::move(panels)),
                      "Estimates from gradients beside what was measured.", named_for(model, "estimates")};
}

}  // namespace sluice
