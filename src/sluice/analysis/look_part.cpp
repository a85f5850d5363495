#include "sluice/analysis/look_part.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sluice/analysis/measured_layers.h"
#include "sluice/eval/chunk_pass.h"
#include "sluice/probe/probe_chain.h"

namespace sluice {
namespace {

// One layer of the sequence that passes, [N, heads] each.
struct PassingLayer {
  std::vector<float> gates, key_attention, value_norms;
};

class LookProbe : public Probe {
 public:
  LookProbe(Look& look, const ModelConfig& config) : look_(look), config_(config) {
    for (const TapPoint& point : kActivationPoints) look_.activations.push_back({point});
  }

  void begin_pass(const PassTokens& tokens) override {
    sequences_ = tokens.sequences;
    passing_.clear();
  }

  bool wants(const TapName& name) const override {
    const bool key = look_.key == 0 ? name.point == points::kSink : name.point == points::kProbs;
    const bool before_gate = name.point == points::kMixed && is_scaled(name.layer);
    return key || before_gate || name.point == points::kEntropy || activation_at(name) != nullptr ||
           gate_row_at(name.point) != nullptr || name.point == points::kRouter ||
           name.point == points::kExperts;
  }

  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override {
    if (name.point == points::kSink) add_attention(name.layer, value);
    if (name.point == points::kProbs) add_attention(name.layer, on_key(context, value));
    if (name.point == points::kEntropy) add_entropy(entry_of(look_.attention, name.layer), value);
    if (name.point == points::kMixed) add_mixed(name.layer, value);
    if (name.point == points::kGated && is_scaled(name.layer))
      add_after_gate(entry_of(look_.sparsity, name.layer), value);
    if (name.point == points::kRouter) add_router(entry_of(look_.experts, name.layer), value);
    if (name.point == points::kExperts) add_choices(entry_of(look_.experts, name.layer), value);
    if (ActivationMeasure* measure = activation_at(name))
      add_activations(entry_of(measure->layers, name.layer), value, sequences_);
    if (const GatePositionRow* position = gate_row_at(name.point)) add_gate(*position, name.layer, value);
    return value;
  }

  // After the pass of one sequence: what its layers showed together with what is known of its tokens.
  void end_sequence(const KnownTokens& tokens) {
    GateContext context{.tokens = tokens};
    std::vector<double> means(tokens.ids.size());
    int64_t gated = 0;
    for (auto& [layer, values] : passing_) {
      if (values.gates.empty()) continue;
      const size_t heads = values.gates.size() / means.size();
      for (size_t i = 0; i < values.gates.size(); ++i) means[i / heads] += values.gates[i];
      gated += static_cast<int64_t>(heads);
      context.gates = values.gates;
      context.key_attention = values.key_attention;
      context.value_norms = values.value_norms;
      add_relations(entry_of(look_.relations, layer), context);
    }
    if (gated == 0) return;
    for (double& mean : means) mean /= static_cast<double>(gated);
    add_tokens(look_.by_token, {.sequence = tokens.sequence, .ids = tokens.ids, .gates = means});
  }

 private:
  // Whether the gate at g1 multiplies attn.mixed in this layer, with nothing in between: then sparsity before
  // and after can be compared.
  bool is_scaled(int64_t layer) const {
    if (config_.head_norm || config_.head_silu) return false;
    return std::ranges::any_of(config_.gates, [&](const GateSpec& gate) {
      return gate.position == GatePosition::G1 && gate.in_layer(layer) &&
             gate.form.mode == GateMode::Multiply;
    });
  }

  ActivationMeasure* activation_at(const TapName& name) const {
    const auto found = std::ranges::find(look_.activations, name.point,
                                         [](const ActivationMeasure& measure) { return measure.point.name; });
    return found == look_.activations.end() ? nullptr : &*found;
  }

  void add_attention(int64_t layer, const Tensor& probabilities) {
    add_key_attention(entry_of(look_.attention, layer), probabilities, sequences_, look_.key);
    const auto values = probabilities.values<float>();
    passing_[layer].key_attention.assign(values.begin(), values.end());
  }

  void add_mixed(int64_t layer, const Tensor& mixed) {
    passing_[layer].value_norms = add_before_gate(entry_of(look_.sparsity, layer), mixed);
  }

  void add_gate(const GatePositionRow& position, int64_t layer, const Tensor& value) {
    auto measure = std::ranges::find(look_.gates, position.name, &GateMeasure::position);
    if (measure == look_.gates.end()) measure = look_.gates.insert(measure, {position.name});
    std::vector<float> means = add_gate_values(entry_of(measure->layers, layer), value, sequences_);
    if (&position == &*GatePosition::G1) passing_[layer].gates = std::move(means);
  }

  // [H, T, T] of one sequence → [T, H]; NaN where the query does not see the key.
  Tensor on_key(const Context& context, const Tensor& probabilities) const {
    const int64_t heads = probabilities.shape()[0], tokens = probabilities.shape()[1];
    std::vector<float> values(static_cast<size_t>(tokens * heads), std::numeric_limits<float>::quiet_NaN());
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t t = look_.key; t < tokens; ++t)
        values[static_cast<size_t>(t * heads + h)] =
            probabilities.values<float>()[static_cast<size_t>((h * tokens + t) * tokens + look_.key)];
    return Tensor::from<float>(context.engine.pool(), {tokens, heads}, values);
  }

  Look& look_;
  const ModelConfig& config_;
  Sequences sequences_;
  std::map<int64_t, PassingLayer> passing_;
};

std::vector<double> log_frequencies(const ChunkedText& text, int64_t vocabulary) {
  std::vector<double> counts(static_cast<size_t>(vocabulary));
  for (const TokenId id : text.tokens) ++counts[static_cast<size_t>(id)];
  for (double& count : counts) count = std::log(count);
  return counts;
}

// Of every token that the model sees: NaN for those that nothing predicted.
std::vector<float> surprise_of(const ChunkPass& pass) {
  std::vector<float> surprise(pass.chunk.ids.size(), std::numeric_limits<float>::quiet_NaN());
  std::ranges::copy(pass.losses, surprise.end() - std::ssize(pass.losses));
  surprise.pop_back();  // the last token is not seen
  return surprise;
}

}  // namespace

int64_t parts_of(const ChunkedText& text) {
  return (text.chunks() + kSequencesOfPart - 1) / kSequencesOfPart;
}

LookParts::LookParts(const LoadedModel& model, const LookRequest& request)
    : model_(model),
      request_(request),
      log_frequencies_(log_frequencies(request.text, model.config().vocabulary)) {}

LookPart LookParts::compute(int64_t number, const JobControl& control) const {
  LookPart part;
  Look& sums = part.sums;
  sums.key = request_.key;
  LookProbe probe(sums, model_.config());
  std::optional<Intervener> intervener;
  if (!request_.interventions.empty()) intervener.emplace(request_.interventions);
  ProbeChain chain({intervener ? &*intervener : nullptr, &probe});
  const auto begin = [&](int64_t chunk) {
    if (intervener) intervener->begin_at(chunk);
  };
  const int64_t first = number * kSequencesOfPart;
  const ChunkJob job{.text = request_.text,
                     .chunks = Range{first, std::min(first + kSequencesOfPart, request_.text.chunks())},
                     .probe = &chain,
                     .begin = begin,
                     .control = control};
  for_each_chunk(model_, job, [&](const ChunkPass& pass) {
    sums.chunks.push_back(pass.nll);
    sums.key_floor += uniform_sink(std::ssize(pass.inputs), request_.key);
    sums.late_key_floor += uniform_sink(std::ssize(pass.inputs), request_.key, kFirstQueries);
    part.first_tokens.insert(pass.inputs.front());
    sums.tokens += std::ssize(pass.inputs);
    const std::vector<float> surprise = surprise_of(pass);
    probe.end_sequence({.sequence = pass.index,
                        .ids = pass.inputs,
                        .surprise = surprise,
                        .frequency = log_frequencies_,
                        .key = request_.key});
  });
  if (intervener) part.met = intervener->met();
  return part;
}

}  // namespace sluice
