// A view as JSON: figures, not the large values.
#include <cmath>

#include "sluice/analysis/prompt_view.h"
#include "sluice/base/json_text.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

template <class Values>
ordered_json numbers_json(const Values& values) {
  ordered_json json = ordered_json::array();
  for (const auto value : values) json.push_back(shortest_or_null(value));
  return json;
}

ordered_json summary_json(std::string_view position, const GateSummary& summary) {
  return {{"position", position},
          {"mean", shortest_or_null(summary.mean)},
          {"first", shortest_or_null(summary.first)},
          {"others", shortest_or_null(summary.others)},
          {"closed", shortest_or_null(summary.closed)},
          {"open", shortest_or_null(summary.open)},
          {"lowest", shortest_or_null(summary.lowest)},
          {"highest", shortest_or_null(summary.highest)},
          {"histogram", numbers_json(summary.histogram)}};
}

ordered_json gate_json(const ViewGate& gate) {
  ordered_json json = summary_json(gate.position, gate.summary);
  const auto heads = static_cast<size_t>(gate.heads);
  std::vector<double> means(heads);
  for (size_t i = 0; i < gate.by_token.size(); ++i) means[i % heads] += gate.by_token[i];
  for (double& mean : means) mean /= static_cast<double>(gate.by_token.size() / heads);
  json["by_head"] = numbers_json(means);
  return json;
}

ordered_json attention_json(const ViewLayer& layer) {
  if (layer.attention.by_head.empty()) return {};
  std::vector<double> sinks, late, entropies;
  for (const AttentionHead& head : layer.attention.by_head) {
    sinks.push_back(head.key.mean());
    late.push_back(head.key.late_mean());
    entropies.push_back(head.mean_entropy());
  }
  return {
      {"sink", numbers_json(sinks)}, {"late_sink", numbers_json(late)}, {"entropy", numbers_json(entropies)}};
}

ordered_json layer_json(const ViewLayer& layer) {
  ordered_json gates = ordered_json::array();
  for (const ViewGate& gate : layer.gates) gates.push_back(gate_json(gate));
  return {{"layer", layer.layer},
          {"attention", attention_json(layer)},
          {"gates", std::move(gates)},
          {"activation",
           {{"largest", shortest_or_null(layer.largest)},
            {"position", layer.largest_position},
            {"channel", layer.largest_channel},
            {"mean_absolute", shortest_or_null(layer.mean_absolute)}}}};
}

// Over the layers and heads that have it: [T].
std::vector<double> received_by_all(const PromptView& view) {
  std::vector<double> means(view.ids.size());
  size_t heads = 0;
  for (const ViewLayer& layer : view.layers) {
    for (size_t i = 0; i < layer.received.size(); ++i) means[i % means.size()] += layer.received[i];
    heads += layer.received.size() / means.size();
  }
  for (double& mean : means) mean /= static_cast<double>(heads);
  return means;
}

std::vector<double> gate_by_token(const PromptView& view, std::string_view position) {
  std::vector<double> means(view.ids.size());
  size_t heads = 0;
  for (const ViewLayer& layer : view.layers) {
    for (const ViewGate& gate : layer.gates) {
      if (gate.position != position) continue;
      const auto width = static_cast<size_t>(gate.heads);
      for (size_t i = 0; i < gate.by_token.size(); ++i) means[i / width] += gate.by_token[i];
      heads += width;
    }
  }
  for (double& mean : means) mean /= static_cast<double>(heads);
  return means;
}

}  // namespace

ordered_json to_json(const PromptView& view) {
  ordered_json gates = ordered_json::array(), layers = ordered_json::array();
  for (const auto& [position, summary] : view.gates) {
    gates.push_back(summary_json(position, summary));
    gates.back()["by_token"] = numbers_json(gate_by_token(view, position));
  }
  for (const ViewLayer& layer : view.layers) layers.push_back(layer_json(layer));
  const KeyAttention sink = view.sink();
  return {{"ids", view.ids},
          {"tokens", view.tokens.empty() ? ordered_json() : ordered_json(view.tokens)},
          {"surprise", numbers_json(view.surprise)},
          {"nll", shortest_or_null(view.nll())},
          {"ppl", shortest_or_null(std::exp(view.nll()))},
          {"received", numbers_json(received_by_all(view))},
          {"sink",
           {{"mean", shortest_or_null(sink.mean())},
            {"floor", shortest_or_null(uniform_sink(view.length()))},
            {"late", shortest_or_null(sink.late_mean())},
            {"late_floor", sink.late_queries == 0
                               ? ordered_json()
                               : shortest_or_null(uniform_sink(view.length(), 0, kFirstQueries))}}},
          {"gates", std::move(gates)},
          {"layers", std::move(layers)}};
}

}  // namespace sluice
