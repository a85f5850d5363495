#include "sluice/ablate/plan_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "sluice/base/error.h"
#include "sluice/base/suggest.h"

namespace sluice {
namespace {

struct ActionWord {
  std::string_view word;
  std::string_view gated, ungated;  // the change; empty: no counterpart
  std::string_view ungated_word = word;
};

constexpr std::array kActionWords = {
    ActionWord{"open", "set=1", ""},
    ActionWord{"closed", "set=0", "scale=0", "zeroed"},
    ActionWord{"mean", "mean", "mean"},
    ActionWord{"head-mean", "head-mean", ""},
    ActionWord{"layer-mean", "layer-mean", ""},
    ActionWord{"overall-mean", "overall-mean", ""},
    ActionWord{"raised", "level=1", ""},
    ActionWord{"shuffled", "shuffle", "shuffle"},
    ActionWord{"inverted", "invert", ""},
};

const ActionWord& action_word(std::string_view word) {
  for (const ActionWord& each : kActionWords)
    if (each.word == word || each.ungated_word == word) return each;
  std::vector<std::string> words;
  for (const ActionWord& each : kActionWords) words.emplace_back(each.word);
  throw usage_error({.where = "plan",
                     .what = fmt::format("unknown action \"{:.40}\"", word),
                     .expected = fmt::format("{}", fmt::join(words, ", ")),
                     .hint = did_you_mean(word, words)});
}

const GateSpec* planned_gate(const ModelConfig& config) {
  const auto at_output = std::ranges::find(config.gates, GatePosition::G1, &GateSpec::position);
  if (at_output != config.gates.end()) return &*at_output;
  return config.gates.empty() ? nullptr : &config.gates.front();
}

}  // namespace

std::optional<std::string> gate_tap(const ModelConfig& config) {
  const GateSpec* gate = planned_gate(config);
  if (gate == nullptr) return {};
  return std::string(gate->position->tap.name);
}

PlanTarget::PlanTarget(const ModelConfig& config)
    : gated_(!config.gates.empty()),
      point_(gate_tap(config).value_or("attn.out")),
      head_point_(gated_ ? point_ : "attn.gated"),
      heads_(config.heads) {
  const GateSpec* gate = planned_gate(config);
  if (gate != nullptr) heads_ = config.sizes().gated_heads(gate->position);
  for (int64_t layer = 0; layer < config.layers; ++layer)
    if (gate == nullptr || gate->in_layer(layer)) layers_.push_back(layer);
}

std::optional<std::string> PlanTarget::action_for(std::string_view action) const {
  const ActionWord& word = action_word(action);
  if (gated_) return std::string(word.word);
  if (word.ungated.empty()) return {};
  return std::string(word.ungated_word);
}

std::string PlanTarget::change(const std::string& action, uint64_t seed) const {
  const ActionWord& word = action_word(action);
  const std::string text(gated_ ? word.gated : word.ungated);
  return text == "shuffle" ? fmt::format(" shuffle={}", seed) : " " + text;
}

std::string PlanTarget::constant(double value) const {
  return fmt::format(" {}={}", gated_ ? "set" : "scale", number_text(value));
}

std::string PlanTarget::tap() const {
  return point_;
}

std::string PlanTarget::tap(const std::vector<int64_t>& layers) const {
  if (layers == layers_) return tap();  // written as for all, so that equal runs are found to be equal
  return fmt::format("layers.{}.{}", index_text(layers), point_);
}

std::string PlanTarget::head_tap(int64_t layer) const {
  return fmt::format("layers.{}.{}", layer, head_point_);
}

std::string number_text(double value) {
  return fmt::format("{}", value);
}

// Ranges keep it short: a tap's name has room for 64 characters.
std::string index_text(const std::vector<int64_t>& indices) {
  std::string text;
  for (size_t i = 0; i < indices.size();) {
    size_t last = i;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    if (!text.empty()) text += ",";
    text += last == i ? std::to_string(indices[i]) : fmt::format("{}-{}", indices[i], indices[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace sluice
