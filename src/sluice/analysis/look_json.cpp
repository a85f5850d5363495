// A look as JSON: every number, nothing rounded.
#include <nlohmann/json.hpp>

#include "sluice/analysis/gate_agreement.h"
#include "sluice/analysis/look.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

constexpr double kQuantiles[] = {0.05, 0.25, 0.5, 0.75, 0.95};

// Keys that are numbers keep their digits: "0.05".
std::string key_of(double number) {
  return ordered_json(number).dump();
}

ordered_json distribution_json(const Distribution& values) {
  ordered_json quantiles;
  for (const double at : kQuantiles) quantiles[key_of(at)] = values.quantile(at);
  return {{"values", values.count()},         {"mean", values.moments().mean()},
          {"median", values.quantile(0.5)},   {"std", values.moments().deviation()},
          {"lowest", values.lowest()},        {"highest", values.highest()},
          {"quantiles", quantiles},           {"below_0.1", values.closed()},
          {"below_0.5", values.below_half()}, {"above_0.9", values.open()},
          {"bimodality", values.bimodality()}};
}

ordered_json channels_json(const GateLayer& layer) {
  const ChannelSets sets = layer.channel_sets();
  return {{"always_closed", share_of(sets.closed)},
          {"always_open", share_of(sets.open)},
          {"input_dependent", share_of(sets.dynamic)}};
}

ordered_json gate_layer_json(const GateLayer& layer) {
  ordered_json json = {{"layer", layer.layer}};
  json.update(distribution_json(layer.values));
  json["first_token"] = {
      {"first", layer.first.mean()}, {"others", layer.others.mean()}, {"ratio", to_json(layer.first_ratio)}};
  if (layer.width > 1) json["channels"] = channels_json(layer);
  ordered_json heads = ordered_json::array(), positions = ordered_json::array();
  for (const GateHead& head : layer.by_head) {
    heads.push_back({{"mean", head.all.mean()},
                     {"std", head.all.deviation()},
                     {"below_0.1", head.closed_share()},
                     {"first", head.first.mean()}});
  }
  for (const Moments& position : layer.by_position) positions.push_back(position.mean());
  json["heads"] = std::move(heads);
  json["positions"] = std::move(positions);
  return json;
}

ordered_json gate_json(const GateMeasure& gate) {
  ordered_json json = {{"position", gate.position},
                       {"heads", gate.layers.front().heads},
                       {"values_per_head", gate.layers.front().width}};
  json.update(distribution_json(gate.values()));
  json["mean_ci95"] = to_json(gate.mean.ci95);
  json["first_token"] = {{"first", gate.first().mean()},
                         {"others", gate.others().mean()},
                         {"ratio", to_json(gate.first_ratio)},
                         {"difference", to_json(gate.first_difference)}};
  json["split_half"] = to_json(split_half(gate));
  ordered_json layers = ordered_json::array();
  for (const GateLayer& layer : gate.layers) layers.push_back(gate_layer_json(layer));
  json["layers"] = std::move(layers);
  return json;
}

ordered_json attention_json(const Look& look) {
  ordered_json layers = ordered_json::array(), rates;
  for (const AttentionLayer& layer : look.attention) {
    ordered_json heads = ordered_json::array();
    for (const AttentionHead& head : layer.by_head) {
      heads.push_back({{"on_key", head.key.mean()},
                       {"without_first_4", head.key.late_mean()},
                       {"entropy", head.mean_entropy()}});
    }
    layers.push_back({{"layer", layer.layer},
                      {"on_key", layer.all().mean()},
                      {"without_first_4", layer.all().late_mean()},
                      {"heads", std::move(heads)}});
  }
  ordered_json same;
  for (const double epsilon : kSinkRates) {
    rates[key_of(epsilon)] = sink_rate(look.attention, epsilon);
    same[key_of(epsilon)] = sink_set_agreement(look.attention, epsilon);
  }
  return {{"key", look.key},
          {"uniform", look.key_floor},
          {"uniform_without_first_4", look.late_key_floor},
          {"on_key", to_json(look.sink)},
          {"without_first_4", to_json(look.late_sink)},
          {"heads_above", rates},
          {"split_half", {{"heads_above", same}, {"order_of_heads", sink_order_agreement(look.attention)}}},
          {"layers", std::move(layers)}};
}

ordered_json activations_json(const Look& look) {
  ordered_json points = ordered_json::array();
  for (const ActivationMeasure& measure : look.activations) {
    ordered_json layers = ordered_json::array();
    for (const ActivationLayer& layer : measure.layers) {
      layers.push_back({{"layer", layer.layer},
                        {"largest", layer.largest.size},
                        {"channel", layer.largest.channel},
                        {"sequence", layer.largest.sequence},
                        {"position", layer.largest.position},
                        {"context", layer.largest.context}});
      if (layer.largest.token) layers.back()["token"] = *layer.largest.token;
    }
    points.push_back({{"point", measure.point.name},
                      {"largest", measure.mean()},
                      {"largest_of_a_sequence", to_json(measure.of_sequences)},
                      {"layers", std::move(layers)}});
  }
  return points;
}

ordered_json shares_json(const SparsityShares& shares) {
  ordered_json json;
  for (size_t i = 0; i < shares.size(); ++i) json["below_" + key_of(kNearlyNothing[i])] = shares[i];
  return json;
}

ordered_json sparsity_json(const Look& look) {
  ordered_json layers = ordered_json::array();
  for (const SparsityLayer& layer : look.sparsity) {
    layers.push_back(
        {{"layer", layer.layer},
         {"before", shares_json(layer.shares_before())},
         {"after", shares_json(layer.shares_after())},
         {"mean_gate", shares_json(layer.shares_with_means(output_gate_means(look, layer.layer)))}});
  }
  return layers;
}

ordered_json moments_json(const std::vector<GateMoment>& moments) {
  ordered_json json = ordered_json::array();
  for (const GateMoment& moment : moments) {
    json.push_back({{"gate", moment.gate},
                    {"token", moment.token},
                    {"sequence", moment.sequence},
                    {"position", moment.position},
                    {"context", moment.context}});
  }
  return json;
}

ordered_json relations_json(const Look& look) {
  ordered_json layers = ordered_json::array();
  for (const GateLayerRelations& layer : look.relations) {
    ordered_json heads = ordered_json::array();
    for (const GateHeadRelations& head : layer.by_head) {
      ordered_json json;
      for (size_t i = 0; i < kGateRelations; ++i) {
        const auto relation = static_cast<GateRelation>(i);
        json[std::string(name_of(relation))] = head.correlation(relation);
      }
      json["most_open"] = moments_json(head.extremes.open.moments());
      json["most_closed"] = moments_json(head.extremes.closed.moments());
      heads.push_back(std::move(json));
    }
    layers.push_back({{"layer", layer.layer}, {"heads", std::move(heads)}});
  }
  return layers;
}

ordered_json extremes_json(const Look& look) {
  if (look.relations.empty()) return nullptr;
  const ExtremesAgreement halves = split_half(look.relations);
  return {{"most_open", halves.open}, {"most_closed", halves.closed}};
}

}  // namespace

ordered_json to_json(const Look& look) {
  const Perplexity& result = look.perplexity;
  ordered_json gates = ordered_json::array();
  for (const GateMeasure& gate : look.gates) gates.push_back(gate_json(gate));
  return {{"model", look.model},
          {"sequences", look.sequences},
          {"length", look.length},
          {"tokens", look.tokens},
          {"first_tokens", look.first_tokens},
          {"dtype", weight_type_name(look.dtype)},
          {"bos", name_of(look.begin_of_text)},
          {"nll", result.nll},
          {"ppl", result.ppl},
          {"ci95", to_json(result.ci95)},
          {"gates", std::move(gates)},
          {"attention", attention_json(look)},
          {"activations", activations_json(look)},
          {"sparsity", sparsity_json(look)},
          {"relations", relations_json(look)},
          {"extremes_split_half", extremes_json(look)},
          {"by_token", look.by_token.empty() ? ordered_json(nullptr) : to_json(look.by_token)}};
}

}  // namespace sluice
