#include "sluice/report/shaded_prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sluice/base/error.h"
#include "sluice/plot/color_map.h"
#include "sluice/plot/token_text.h"

namespace sluice {
namespace {

const char* name_of(ShadeBy by) {
  if (by == ShadeBy::Surprise) return "surprise";
  return by == ShadeBy::Attention ? "attention" : "gate";
}

// The value of a token in a layer; the layers that have none do not count.
double gate_at(const PromptLayer& layer, size_t tokens, size_t token, std::optional<int64_t> head) {
  const size_t heads = layer.gates.size() / tokens;
  if (head) return layer.gates[token * heads + static_cast<size_t>(*head)];
  double sum = 0;
  for (size_t h = 0; h < heads; ++h) sum += layer.gates[token * heads + h];
  return sum / static_cast<double>(heads);
}

std::vector<const PromptLayer*> chosen_layers(const PromptMap& map, const ShadeRequest& request) {
  std::vector<const PromptLayer*> chosen;
  for (const PromptLayer& layer : map.layers) {
    const bool has_value = request.by == ShadeBy::Gate ? !layer.gates.empty() : !layer.received.empty();
    if (has_value && (!request.layer || *request.layer == layer.layer)) chosen.push_back(&layer);
  }
  if (!chosen.empty()) return chosen;
  if (!request.layer && request.by != ShadeBy::Gate)
    throw usage_error({.where = "--by attention", .what = "the model has no attention"});
  if (request.by == ShadeBy::Gate && !map.has_gates())
    throw usage_error(
        {.where = "--by gate", .what = "the model has no gate at g1", .hint = "--by surprise, or attention"});
  throw usage_error({.where = "--layer",
                     .what = fmt::format("the model has no {} in this layer", name_of(request.by)),
                     .got = std::to_string(*request.layer)});
}

void check_head(const PromptMap& map, const ShadeRequest& request, const PromptLayer& layer) {
  if (!request.head) return;
  if (request.by != ShadeBy::Gate) throw usage_error({.where = "--head", .what = "is of gates"});
  const int64_t heads = std::ssize(layer.gates) / std::ssize(map.ids);
  if (*request.head < heads) return;
  throw usage_error({.where = "--head",
                     .what = "the model does not have this head",
                     .expected = fmt::format("0 to {}", heads - 1),
                     .got = std::to_string(*request.head)});
}

std::vector<double> values_of(const PromptMap& map, const ShadeRequest& request) {
  if (request.by == ShadeBy::Surprise) {
    if (request.layer || request.head)
      throw usage_error({.where = "--by surprise", .what = "is of the whole model: no --layer, no --head"});
    return {map.surprise.begin(), map.surprise.end()};
  }
  const std::vector<const PromptLayer*> layers = chosen_layers(map, request);
  check_head(map, request, *layers.front());
  std::vector<double> values(map.ids.size());
  for (const PromptLayer* layer : layers)
    for (size_t t = 0; t < values.size(); ++t)
      values[t] += (request.by == ShadeBy::Gate ? gate_at(*layer, values.size(), t, request.head)
                                                : static_cast<double>(layer->received[t])) /
                   static_cast<double>(layers.size());
  return values;
}

// From the lowest to the highest value.
struct ShadeScale {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  explicit ShadeScale(const std::vector<double>& values) {
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  double share(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

std::string colored(const std::string& text, Color background) {
  const Color letters = text_color_on(background);
  return fmt::format("\x1b[48;2;{};{};{}m\x1b[38;2;{};{};{}m{}\x1b[0m", background.red, background.green,
                     background.blue, letters.red, letters.green, letters.blue, text);
}

}  // namespace

ShadedPrompt shade_prompt(const PromptMap& map, const ShadeRequest& request) {
  ShadedPrompt prompt{.what = name_of(request.by),
                      .ids = map.ids,
                      .tokens = map.tokens,
                      .values = values_of(map, request),
                      .colored = request.colored};
  if (prompt.tokens.empty())
    for (const TokenId id : map.ids) prompt.tokens.push_back(fmt::format("{} ", id));
  return prompt;
}

nlohmann::ordered_json to_json(const ShadedPrompt& prompt) {
  nlohmann::ordered_json tokens = nlohmann::ordered_json::array();
  for (size_t i = 0; i < prompt.ids.size(); ++i)
    tokens.push_back({{"id", prompt.ids[i]}, {"text", prompt.tokens[i]}, {"value", prompt.values[i]}});
  return {{"by", prompt.what}, {"tokens", std::move(tokens)}};
}

std::string to_text(const ShadedPrompt& prompt) {
  const ShadeScale scale(prompt.values);
  std::string text;
  for (size_t i = 0; i < prompt.ids.size(); ++i) {
    const std::string token = token_text(prompt.tokens[i]);
    const bool known = std::isfinite(prompt.values[i]);
    if (!prompt.colored) {
      text +=
          known ? fmt::format("{:<16} {:.4f}\n", token, prompt.values[i]) : fmt::format("{:<16} -\n", token);
    } else {
      text += known ? colored(token, color_at(ColorMap::Sequential, scale.share(prompt.values[i]))) : token;
    }
  }
  if (!prompt.colored) return text;
  if (scale.low > scale.high) return text + "\n";
  return text + fmt::format("\n{}: {} {:.4f} to {} {:.4f}\n", prompt.what,
                            colored(" ", color_at(ColorMap::Sequential, 0)), scale.low,
                            colored(" ", color_at(ColorMap::Sequential, 1)), scale.high);
}

}  // namespace sluice
