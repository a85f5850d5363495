// Estimates of gates as JSON and as text, and beside what was measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/ablate/gate_estimates.h"
#include "sluice/analysis/ranks.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

ordered_json effect_json(const EstimatedEffect& effect) {
  return {{"nll", effect.nll}, {"ci95", to_json(effect.ci95)}};
}

ordered_json layer_json(const LayerEstimate& layer) {
  ordered_json json = {{"layer", layer.layer}};
  json.update(effect_json(layer.whole));
  json["heads"] = ordered_json::array();
  for (const EstimatedEffect& head : layer.heads) json["heads"].push_back(effect_json(head));
  return json;
}

std::string effect_text(const EstimatedEffect& effect) {
  const std::string nll = fmt::format("{:+.5f}", effect.nll);
  return effect.ci95 ? fmt::format("{} [{:+.5f}, {:+.5f}]", nll, effect.ci95->low, effect.ci95->high) : nll;
}

struct RankedEffect {
  std::string name;
  const EstimatedEffect* effect;
};

std::string ranked_text(std::vector<RankedEffect> effects, size_t rows) {
  std::ranges::stable_sort(effects, [](const RankedEffect& a, const RankedEffect& b) {
    return std::abs(a.effect->nll) > std::abs(b.effect->nll);
  });
  effects.resize(std::min(effects.size(), rows));
  std::string text;
  for (const auto& [name, effect] : effects) text += fmt::format("  {:<20} {}\n", name, effect_text(*effect));
  return text;
}

EstimateAgreement agreement_of(const ActionEstimates& estimates, std::span<const ExactEffect> exact,
                               bool of_heads) {
  std::vector<double> estimated, measured;
  EstimateAgreement result;
  double errors = 0;
  for (const ExactEffect& each : exact) {
    const EstimatedEffect* effect = estimates.find(each.layer, each.head);
    if (each.head.has_value() != of_heads || effect == nullptr) continue;
    estimated.push_back(effect->nll);
    measured.push_back(each.nll);
    errors += std::abs(effect->nll - each.nll);
  }
  result.count = std::ssize(measured);
  if (result.count > 0 && estimates.method == EstimateMethod::FirstOrder)
    result.mean_error = errors / static_cast<double>(result.count);
  if (result.count < 3) return result;  // two are in order or not: no correlation worth the name
  const double correlation = rank_correlation(estimated, measured);
  if (std::isfinite(correlation)) result.rank_correlation = correlation;
  return result;
}

}  // namespace

std::string_view name_of(GateAction action) {
  switch (action) {
    case GateAction::Open:
      return "open";
    case GateAction::Close:
      return "close";
    case GateAction::Mean:
      return "mean";
  }
  return "";
}

std::string_view name_of(EstimateMethod method) {
  return method == EstimateMethod::FirstOrder ? "first_order" : "integrated";
}

ordered_json to_json(const GateEstimates& estimates) {
  ordered_json json = {{"nll", estimates.nll},       {"tokens", estimates.tokens},
                       {"chunks", estimates.chunks}, {"steps", estimates.steps},
                       {"passes", estimates.passes}, {"estimates", ordered_json::array()}};
  for (const ActionEstimates& each : estimates.estimates) {
    ordered_json list = {
        {"tap", each.tap}, {"action", name_of(each.action)}, {"method", name_of(each.method)}};
    list.update(effect_json(each.all));
    list["layers"] = ordered_json::array();
    for (const LayerEstimate& layer : each.layers) list["layers"].push_back(layer_json(layer));
    json["estimates"].push_back(std::move(list));
  }
  return json;
}

std::string to_text(const GateEstimates& estimates, size_t rows) {
  std::string text = fmt::format("estimated change of nll per token; {:.4f} unbroken, {} tokens, {} chunks\n",
                                 estimates.nll, estimates.tokens, estimates.chunks);
  for (const ActionEstimates& each : estimates.estimates) {
    const bool integrated = each.method == EstimateMethod::Integrated;
    text += fmt::format(
        "{} {}, {}: all {}\n", name_of(each.action), each.tap,
        integrated ? fmt::format("integrated over {} steps, shares of changing all together", estimates.steps)
                   : "first order, of changing one alone",
        effect_text(each.all));
    std::vector<RankedEffect> layers, heads;
    for (const LayerEstimate& layer : each.layers) {
      layers.push_back({fmt::format("layer {}", layer.layer), &layer.whole});
      for (size_t head = 0; head < layer.heads.size(); ++head)
        heads.push_back({fmt::format("layer {} head {}", layer.layer, head), &layer.heads[head]});
    }
    text += ranked_text(std::move(layers), rows);
    if (!each.layers.empty() && each.layers.front().heads.size() > 1)
      text += ranked_text(std::move(heads), rows);
  }
  return text;
}

ordered_json to_json(const EstimateAgreement& agreement) {
  ordered_json json = {{"count", agreement.count}, {"rank_correlation", nullptr}, {"mean_error", nullptr}};
  if (agreement.mean_error) json["mean_error"] = *agreement.mean_error;
  if (agreement.rank_correlation) json["rank_correlation"] = *agreement.rank_correlation;
  return json;
}

EstimateAgreement head_agreement(const ActionEstimates& estimates, std::span<const ExactEffect> exact) {
  return agreement_of(estimates, exact, true);
}

EstimateAgreement layer_agreement(const ActionEstimates& estimates, std::span<const ExactEffect> exact) {
  return agreement_of(estimates, exact, false);
}

}  // namespace sluice
