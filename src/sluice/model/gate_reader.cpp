#include "sluice/model/gate_reader.h"

#include <fmt/ranges.h>

#include <numeric>
#include <set>

#include "sluice/model/gate_names.h"

namespace sluice {
namespace {

constexpr double kLargestInit = 100;  // as of a run's init: beyond it nothing can be learnt

GateForm read_form(const Json& json) {
  GateForm form;
  form.granularity = json.choice_or("granularity", form.granularity, kGranularities);
  form.sharing = json.choice_or("sharing", form.sharing, kSharings);
  form.mode = json.choice_or("mode", form.mode, kModes);
  form.activation = json.choice_or("activation", form.activation, kActivations);
  return form;
}

std::vector<int64_t> read_layers(const Json& json, int64_t layers) {
  std::vector<int64_t> list;
  if (!json.contains("layers")) return list;
  for (const Json& layer : json.at("layers").array())
    list.push_back(layer.integer({.min = 0, .max = layers - 1}));
  if (list.empty())
    throw json.at("layers").unexpected("at least one layer", "leave the key out for all layers");
  return list;
}

// What makes no sense together is refused with the reason.
void check(const Json& json, const GateSpec& gate) {
  const bool on_heads = gate.position->tensor != GatedTensor::Hidden;
  if (!on_heads && gate.form.granularity == Granularity::Headwise) {
    throw json.at("granularity").unexpected("\"elementwise\"", "what it modulates has no heads");
  }
  if (!on_heads && gate.form.sharing == Sharing::Shared) {
    throw json.at("sharing").unexpected("\"specific\"", "what it modulates has no heads");
  }
  if (gate.order == GateOrder::BeforeNorm && !gate.position->normed_and_rotated) {
    std::vector<std::string_view> rotated;
    for (const GatePositionRow& row : kGatePositionRows) {
      if (row.normed_and_rotated) rotated.push_back(row.name);
    }
    throw json.at("order").unexpected(
        "\"after_rope\"", fmt::format("only {} are normed and rotated", fmt::join(rotated, " and ")));
  }
  if (json.contains("channels") && gate.input != GateInput::Truncated) {
    throw json.at("channels").unexpected("no such key", "it belongs to \"input\": \"truncated\"");
  }
  if (gate.bias && gate.input == GateInput::Constant) {
    throw json.at("bias").unexpected("false", "a constant gate is its own bias");
  }
}

std::vector<int64_t> all_layers(const ModelConfig& config) {
  std::vector<int64_t> layers(static_cast<size_t>(config.layers));
  std::iota(layers.begin(), layers.end(), 0);
  return layers;
}

GateSpec read_gate(const Json& json, const ModelConfig& config) {
  json.allow_keys({"position", "granularity", "sharing", "mode", "activation", "input", "channels", "order",
                   "layers", "init_std", "bias", "bias_init"});
  GateSpec gate;
  gate.position = json.choice<GatePosition>("position", kPositions);
  gate.form = read_form(json);
  gate.input = json.choice_or("input", gate.input, kInputs);
  if (gate.input == GateInput::Truncated)
    gate.channels = json.integer("channels", {.min = 1, .max = config.hidden});
  gate.order = json.choice_or("order", gate.order, kOrders);
  gate.layers = read_layers(json, config.layers);
  gate.init_std = json.number_or("init_std", gate.input == GateInput::Constant ? 0.0 : gate.init_std,
                                 {.min = 0.0, .max = kLargestInit});
  gate.bias = json.boolean_or("bias", false);
  gate.bias_init = json.number_or("bias_init", 0.0, {.min = -kLargestInit, .max = kLargestInit});
  const bool has_start = gate.bias || gate.input == GateInput::Constant;  // a constant is its own bias
  if (gate.bias_init != 0.0 && !has_start)
    throw json.at("bias_init").unexpected("0 without a bias", "\"bias\": true gives the gate one");
  check(json, gate);
  return gate;
}

std::vector<GateSpec> read_list(const Json& json, const ModelConfig& config) {
  std::vector<GateSpec> gates;
  std::set<std::pair<GatePosition, int64_t>> taken;  // by layer
  for (const Json& item : json.array()) {
    gates.push_back(read_gate(item, config));
    std::vector<int64_t> layers = gates.back().layers;
    if (layers.empty()) layers = all_layers(config);
    for (const int64_t layer : layers) {
      if (!taken.insert({gates.back().position, layer}).second) {
        throw item.unexpected("one gate per position and layer", fmt::format("layer {} has two", layer));
      }
    }
  }
  return gates;
}

}  // namespace

void read_gates(const Json& json, ModelConfig& config) {
  const bool headwise = json.boolean_or("headwise_attn_output_gate", false);
  const bool elementwise = json.boolean_or("elementwise_attn_output_gate", false);
  const bool per_head = json.boolean_or("attn_output_gate", json.text("model_type") == "qwen3_next");
  const bool listed = json.contains("gates") && !json.at("gates").array().empty();
  if ((headwise || elementwise) + per_head + listed > 1) {
    throw json.unexpected("one way to describe gates",
                          "gates, attn_output_gate and the official flags exclude each other");
  }
  if (headwise || elementwise) {
    config.gate_layout = GateLayout::PackedPerGroup;
    // The official code looks at the headwise flag first.
    config.gates = {{.form = {.granularity = headwise ? Granularity::Headwise : Granularity::Elementwise}}};
    config.gates[0].bias = config.qkv_bias;  // q_proj's bias covers all of its rows
  } else if (per_head) {
    config.gate_layout = GateLayout::PackedPerHead;
    config.gates = {GateSpec{.bias = config.qkv_bias}};
  } else if (listed) {
    config.gate_layout = GateLayout::Separate;
    config.gates = read_list(json.at("gates"), config);
  }
}

}  // namespace sluice
