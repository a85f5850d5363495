#include "sluice/analysis/prompt_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sluice/analysis/measured_layers.h"
#include "sluice/base/error.h"
#include "sluice/eval/perplexity.h"
#include "sluice/infer/nonfinite_tap.h"
#include "sluice/infer/positions.h"
#include "sluice/nn/tap_points.h"
#include "sluice/probe/probe_chain.h"

namespace sluice {
namespace {

class MapProbe : public Probe {
 public:
  MapProbe(PromptMap& map, const PromptMapRequest& request) : map_(map), request_(request) {}

  bool wants(const TapName& name) const override {
    return name.point == points::kProbs || name.point == points::kGate;
  }

  Tensor visit(const Context& /*context*/, const TapName& name, const Tensor& value) override {
    PromptLayer& layer = entry_of(map_.layers, name.layer);
    if (name.point == points::kProbs) {
      layer.heads = value.shape()[0];
      layer.received = received(value);
      if (std::ranges::find(request_.map_layers, name.layer) != request_.map_layers.end())
        keep(name.layer, value);
    } else {
      layer.gates = head_means(value);
    }
    return value;
  }

 private:
  // [H, T, T]
  static std::vector<float> received(const Tensor& probabilities) {
    const int64_t heads = probabilities.shape()[0], tokens = probabilities.shape()[1];
    const float* at = probabilities.data<float>();
    std::vector<float> sums(static_cast<size_t>(tokens));
    for (int64_t row = 0; row < heads * tokens; ++row)
      for (int64_t key = 0; key <= row % tokens; ++key)
        sums[static_cast<size_t>(key)] += at[row * tokens + key];
    for (int64_t key = 0; key < tokens; ++key)
      sums[static_cast<size_t>(key)] /= static_cast<float>(heads * (tokens - key));
    return sums;
  }

  void keep(int64_t layer, const Tensor& probabilities) {
    const int64_t heads = probabilities.shape()[0];
    const auto size = static_cast<size_t>(probabilities.count() / heads);
    const auto values = probabilities.values<float>();
    if (!request_.map_heads) map_.maps.push_back({layer, {}, std::vector<float>(size)});
    for (int64_t h = 0; h < heads; ++h) {
      const auto own = values.subspan(static_cast<size_t>(h) * size, size);
      if (request_.map_heads) {
        map_.maps.push_back({layer, h, {own.begin(), own.end()}});
      } else {
        auto& mean = map_.maps.back().values;
        for (size_t i = 0; i < size; ++i) mean[i] += own[i] / static_cast<float>(heads);
      }
    }
  }

  // [N, heads, width] → [N, heads]
  static std::vector<float> head_means(const Tensor& gates) {
    const auto width = static_cast<size_t>(gates.shape()[2]);
    const auto values = gates.values<float>();
    std::vector<float> means;
    for (size_t first = 0; first < values.size(); first += width) {
      double sum = 0;
      for (const float gate : values.subspan(first, width)) sum += gate;
      means.push_back(static_cast<float>(sum / static_cast<double>(width)));
    }
    return means;
  }

  PromptMap& map_;
  const PromptMapRequest& request_;
};

nlohmann::ordered_json rows_json(const std::vector<float>& values, size_t columns) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (size_t first = 0; first < values.size(); first += columns)
    rows.push_back(std::vector(values.begin() + static_cast<std::ptrdiff_t>(first),
                               values.begin() + static_cast<std::ptrdiff_t>(first + columns)));
  return rows;
}

void check_length(const std::vector<TokenId>& ids) {
  if (ids.size() <= kMaxPromptTokens) return;
  throw usage_error({.where = "--prompt",
                     .what = "too long to be shown token by token",
                     .expected = fmt::format("at most {} tokens", kMaxPromptTokens),
                     .got = std::to_string(ids.size())});
}

}  // namespace

bool PromptMap::has_gates() const {
  return std::ranges::any_of(layers, [](const PromptLayer& layer) { return !layer.gates.empty(); });
}

PromptMap map_prompt(const LoadedModel& model, const PromptMapRequest& request, const JobControl& control) {
  check_length(request.ids);
  warn_beyond_positions(model.config(), "the prompt has", std::ssize(request.ids), control);
  PromptMap map{.ids = request.ids};
  MapProbe probe(map, request);
  Intervener intervener(request.interventions);
  ProbeChain chain({&intervener, &probe});
  const Context context = model.context(&chain, request.packing);
  const Tensor hidden = model.decoder().forward(context, request.ids).y.value();
  if (!is_finite(hidden))
    throw not_finite("what the model says of the prompt is", context, model.decoder(), request.ids)
        .inside(model.path().string());
  map.surprise = next_token_losses(context, model.decoder(), hidden, request.ids);
  map.surprise.insert(map.surprise.begin(), std::numeric_limits<float>::quiet_NaN());
  if (model.has_tokenizer())
    for (const TokenId id : request.ids) map.tokens.push_back(model.decode({&id, 1}));
  return map;
}

std::vector<int64_t> spread_layers(int64_t layers, int64_t count) {
  SLUICE_ASSERT(count > 1, "spread_layers: {}", count);
  if (layers <= count) {
    std::vector<int64_t> all(static_cast<size_t>(layers));
    for (int64_t i = 0; i < layers; ++i) all[static_cast<size_t>(i)] = i;
    return all;
  }
  std::vector<int64_t> spread;
  for (int64_t i = 0; i < count; ++i)
    spread.push_back(1 +
                     std::llround(static_cast<double>(i * (layers - 2)) / static_cast<double>(count - 1)));
  return spread;
}

nlohmann::ordered_json to_json(const PromptMap& map) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const PromptLayer& layer : map.layers) {
    nlohmann::ordered_json json = {{"layer", layer.layer}, {"attention_received", layer.received}};
    if (!layer.gates.empty()) json["gates"] = rows_json(layer.gates, layer.gates.size() / map.ids.size());
    layers.push_back(std::move(json));
  }
  return {
      {"ids", map.ids}, {"tokens", map.tokens}, {"surprise", map.surprise}, {"layers", std::move(layers)}};
}

}  // namespace sluice
