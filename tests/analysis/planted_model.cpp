#include "tests/analysis/planted_model.h"

#include <cmath>

#include "tests/model/constructed_model.h"

namespace sluice {
namespace {

ModelConfig planted_config(const PlantedGates& gates) {
  ModelConfig config;
  config.vocabulary = config.hidden = gates.vocabulary;
  config.feed_forward = 8;
  config.layers = gates.layers;
  config.heads = config.kv_heads = gates.heads;
  config.head_dim = config.rotary = 4;
  config.positions = 64;
  config.gate_layout = GateLayout::Separate;
  config.gates = {GateSpec{.position = GatePosition::G1, .form = {.granularity = Granularity::Headwise}}};
  return config;
}

// What the norm layer makes of the 1 in a one-hot row of V channels is taken out again.
std::vector<float> scores(const PlantedGates& gates, int64_t layer) {
  std::vector<float> values;
  for (int64_t h = 0; h < gates.heads; ++h) {
    for (int64_t token = 0; token < gates.vocabulary; ++token) {
      const double gate = gates.gate(layer, h, static_cast<TokenId>(token));
      const double root = std::sqrt(1 / static_cast<double>(gates.vocabulary) + ModelConfig().norm_eps);
      values.push_back(static_cast<float>(std::log(gate / (1 - gate)) * root));
    }
  }
  return values;
}

std::vector<float> values_of(const NamedParameter& named, const PlantedGates& gates) {
  const std::string& name = named.parameter->name;
  std::vector<float> values(static_cast<size_t>(named.shape.count()));
  if (named.role == ParameterRole::Norm) std::ranges::fill(values, 1.0F);
  if (named.use == MatrixUse::Embedding)
    for (int64_t i = 0; i < gates.vocabulary; ++i) values[static_cast<size_t>(i * gates.vocabulary + i)] = 1;
  if (named.use == MatrixUse::Gate) return scores(gates, std::stoll(name.substr(name.find("layers.") + 7)));
  return values;
}

}  // namespace

void write_planted_model(const std::filesystem::path& out, const PlantedGates& gates) {
  write_constructed_model(out, planted_config(gates),
                          [&](const NamedParameter& named) { return values_of(named, gates); });
}

}  // namespace sluice
