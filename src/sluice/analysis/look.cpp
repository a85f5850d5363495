#include "sluice/analysis/look.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sluice/analysis/measured_layers.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
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
           position_at(name) != nullptr;
  }

  Tensor visit(const Context& context, const TapName& name, const Tensor& value) override {
    if (name.point == points::kSink) add_attention(name.layer, value);
    if (name.point == points::kProbs) add_attention(name.layer, on_key(context, value));
    if (name.point == points::kEntropy) add_entropy(entry_of(look_.attention, name.layer), value);
    if (name.point == points::kMixed) add_mixed(name.layer, value);
    if (name.point == points::kGated && is_scaled(name.layer))
      add_after_gate(entry_of(look_.sparsity, name.layer), value);
    if (ActivationMeasure* measure = activation_at(name))
      add_activations(entry_of(measure->layers, name.layer), value, sequences_);
    if (const GatePositionRow* position = position_at(name)) add_gate(*position, name.layer, value);
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

  static const GatePositionRow* position_at(const TapName& name) {
    const auto* found = std::ranges::find(kGatePositionRows, name.point,
                                          [](const GatePositionRow& row) { return row.tap.name; });
    return found == kGatePositionRows.end() ? nullptr : found;
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

void check_key(const LookRequest& request) {
  if (request.key < request.text.chunk_length - 1) return;
  throw usage_error({.where = "--key",
                     .what = "no chunk of the text has this position",
                     .expected = fmt::format("below {}", request.text.chunk_length - 1),
                     .got = std::to_string(request.key)});
}

}  // namespace

uint32_t checksum_of(const ChunkedText& text) {
  const std::string_view tokens(reinterpret_cast<const char*>(text.tokens.data()),
                                text.tokens.size() * sizeof(TokenId));
  return crc32c(fmt::format("{} {} {} ", text.chunk_length, text.stride, text.begin_of_chunk.value_or(-1)) +
                std::string(tokens));
}

Look look(const LoadedModel& model, const LookRequest& request, const JobControl& control) {
  check_key(request);
  // What a run held out shares a token at the ends: predicted in one sequence, fed in the next.
  SLUICE_ASSERT(request.text.stride + 1 >= request.text.room(), "look: sequences overlap");
  const ChunkedText& text = request.text;
  Look result{.model = model.path().string(),
              .dtype = model.dtype(),
              .begin_of_text = text.begin_of_text,
              .key = request.key,
              .length = text.chunk_length - 1};
  result.text_checksum = checksum_of(text);
  LookProbe probe(result, model.config());
  std::optional<Intervener> intervener;
  if (!request.interventions.empty()) intervener.emplace(request.interventions);
  ProbeChain chain({intervener ? &*intervener : nullptr, &probe});
  std::set<TokenId> first_tokens;
  const std::vector<double> frequency = log_frequencies(text, model.config().vocabulary);
  for_each_chunk(model, {.text = text, .probe = &chain, .control = control}, [&](const ChunkPass& pass) {
    result.chunks.push_back(pass.nll);
    result.key_floor += uniform_sink(std::ssize(pass.inputs), request.key);
    result.late_key_floor += uniform_sink(std::ssize(pass.inputs), request.key, kFirstQueries);
    first_tokens.insert(pass.inputs.front());
    result.tokens += std::ssize(pass.inputs);
    const std::vector<float> surprise = surprise_of(pass);
    probe.end_sequence({.sequence = pass.index,
                        .ids = pass.inputs,
                        .surprise = surprise,
                        .frequency = frequency,
                        .key = request.key});
  });
  if (intervener) intervener->check_effect();
  std::ranges::sort(result.gates, {}, &GateMeasure::position);
  result.sequences = text.chunks();
  result.key_floor /= static_cast<double>(result.sequences);
  result.late_key_floor /= static_cast<double>(result.sequences);
  result.first_tokens = std::ssize(first_tokens);
  result.perplexity = finite_perplexity(model, result.chunks);
  for (GateLayerRelations& layer : result.relations) merge_halves(layer);
  add_estimates(result);
  return result;
}

}  // namespace sluice
