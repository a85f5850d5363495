#include "sluice/nn/attention.h"

#include "sluice/nn/tap_points.h"
#include "sluice/ops/arithmetic.h"
#include "sluice/ops/gate.h"

namespace sluice {
namespace {

Shape by_heads(const Var& x, int64_t heads) {
  return {x.rows(), heads, x.cols() / heads};
}

// Appends rows to a cache's matrix and returns all rows in use.
Tensor append(const Tensor& cached, int64_t length, const Tensor& rows) {
  SLUICE_ASSERT(length + rows.rows() <= cached.rows(), "attention: {} tokens in a cache of {}",
                length + rows.rows(), cached.rows());
  const int64_t width = cached.cols();
  with_compute_type("attention", rows.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::copy_n(rows.data<T>(), rows.count(), cached.data<T>() + length * width);
  });
  return cached.rows_between(0, length + rows.rows());
}

KeyValueState* key_values(const LayerCall& call) {
  auto* state = dynamic_cast<KeyValueState*>(call.state());
  SLUICE_ASSERT(call.state() == nullptr || state != nullptr, "attention: the state of another kind of layer");
  return state;
}

// attention(), with what a probe wants to know of its probabilities.
Var probed_attention(const Context& context, const AttentionInputs& inputs, const LayerCall& call,
                     AttentionOptions options) {
  std::vector<Tensor> probs;
  Tensor sink, entropy;
  const Tap at_probs{call.layer, points::kProbs}, at_sink{call.layer, points::kSink},
      at_entropy{call.layer, points::kEntropy};
  if (is_probed(context, at_probs)) options.capture_probs = &probs;
  if (is_probed(context, at_sink)) options.capture_sink = &sink;
  if (is_probed(context, at_entropy)) options.capture_entropy = &entropy;
  const Var y = attention(context, inputs, call.pass.sequences, options);
  for (const Tensor& sequence : probs) show(context, at_probs, sequence);
  if (sink.defined()) show(context, at_sink, sink);
  if (entropy.defined()) show(context, at_entropy, entropy);
  return y;
}

}  // namespace

Attention::Attention(const AttentionLayerShape& shape) : shape_(shape), gates_(shape.gates, shape.sizes) {
  q_norm_.options = k_norm_.options = head_norm_.options = shape.norm;
}

void Attention::list_parameters(ParameterList& list, const std::string& layer) {
  const std::string prefix = layer + "self_attn.";
  const auto& [hidden, heads, kv_heads, head_dim] = shape_.sizes;
  const int64_t query = heads * head_dim, kv = kv_heads * head_dim;
  list.add_linear(prefix + "q_proj", q_, {query, hidden}, {.bias = shape_.qkv_bias});
  list.add_linear(prefix + "k_proj", k_, {kv, hidden}, {.bias = shape_.qkv_bias});
  list.add_linear(prefix + "v_proj", v_, {kv, hidden}, {.bias = shape_.qkv_bias});
  list.add_linear(prefix + "o_proj", o_, {hidden, query},
                  {.bias = shape_.o_bias, .use = MatrixUse::AttentionOutput});
  if (shape_.qk_norm) list.add_norm(prefix + "q_norm", q_norm_, head_dim);
  if (shape_.qk_norm) list.add_norm(prefix + "k_norm", k_norm_, head_dim);
  if (shape_.head_norm) list.add_norm(prefix + "sdpa_norm", head_norm_, head_dim);
  gates_.list_parameters(list, prefix);
}

LayerCounts Attention::counts() const {
  const auto& [hidden, heads, kv_heads, head_dim] = shape_.sizes;
  const int64_t weights = hidden * head_dim * 2 * (heads + kv_heads);
  const int64_t biases =
      (shape_.qkv_bias ? (heads + 2 * kv_heads) * head_dim : 0) + (shape_.o_bias ? hidden : 0);
  const int64_t norms = head_dim * ((shape_.qk_norm ? 2 : 0) + (shape_.head_norm ? 1 : 0));
  LayerCounts counts{.parameters = {.attention = weights + biases, .norms = norms},
                     .flops = {.products = 2 * weights, .per_context_token = 4 * heads * head_dim}};
  counts += gates_.counts();
  return counts;
}

std::unique_ptr<LayerState> Attention::make_state(const Context& context, int64_t capacity) const {
  const Shape shape{capacity, shape_.sizes.kv_heads * shape_.sizes.head_dim};
  auto state = std::make_unique<KeyValueState>();
  state->k = context.empty(shape, DType::F32);
  state->v = context.empty(shape, DType::F32);
  return state;
}

bool Attention::takes_residual() const {
  return gates_.at(GatePosition::G5) == nullptr;
}

Attention::Projected Attention::project(const Context& context, const Var& x, int64_t layer) const {
  ScoredGates gates(gates_, layer);
  std::vector<LinearWeights> layers = {q_.weights(context), k_.weights(context), v_.weights(context)};
  gates.add_layers(context, layers);
  std::vector<Var> results = linears(context, x, layers);
  gates.take_scores(context, x, results);
  return {.q = results[0], .k = results[1], .v = results[2], .gates = gates};
}

// Norms, rotation and the gates of queries, keys and values.
void Attention::rotate(const Context& context, const LayerCall& call, Projected& projected) const {
  const auto rotated = [&](Var y, const Norm& norm, GatePosition position, int64_t count) {
    const Gate* gate = gates_.at(position);
    const bool before = gate != nullptr && gate->spec().order == GateOrder::BeforeNorm;
    if (before) y = projected.gates.apply(context, position, y);
    const Var weight = norm.present() ? use(context, norm.weight) : Var();
    y = norm_rope(context, y, weight, call.pass.rotary, {.heads = count, .norm = norm.options});
    return before ? y : projected.gates.apply(context, position, y);
  };
  const auto seen = [&](const TapPoint& point, const Var& y, int64_t count) {
    return tap(context, {call.layer, point}, by_heads(y, count), y);
  };
  const int64_t heads = shape_.sizes.heads, kv_heads = shape_.sizes.kv_heads;
  const Var q = rotated(projected.q, q_norm_, GatePosition::G4, heads);
  const Var k = rotated(projected.k, k_norm_, GatePosition::G3, kv_heads);
  const Var v = projected.gates.apply(context, GatePosition::G2, projected.v);
  projected.q = seen(points::kQuery, q, heads);
  projected.k = seen(points::kKey, k, kv_heads);
  projected.v = seen(points::kValue, v, kv_heads);
}

// Whether attention itself can apply its output's gate: nothing stands between the two, and nobody looks.
bool Attention::gates_while_mixing(const Context& context, int64_t layer) const {
  const Gate* gate = gates_.at(GatePosition::G1);
  if (gate == nullptr || gate->spec().form.sharing == Sharing::Shared) return false;
  if (head_norm_.present() || shape_.head_silu) return false;
  return !is_probed(context, {layer, points::kMixed}) && !is_probed(context, {layer, gate->position()->tap});
}

// Attention's result, modulated by the gate if one is given.
Var Attention::attend(const Context& context, const Projected& projected, const LayerCall& call,
                      const Gate* gate) const {
  AttentionInputs inputs{projected.q, projected.k, projected.v};
  AttentionOptions options{.heads = shape_.sizes.heads, .kv_heads = shape_.sizes.kv_heads};
  if (is_narrow(q_.weight)) options.weights = Precision::Bf16;
  if (const KeyValueState* state = key_values(call); state != nullptr) {
    options.past = call.pass.past();
    inputs.k = Var(append(state->k, call.pass.past(), projected.k.value()));
    inputs.v = Var(append(state->v, call.pass.past(), projected.v.value()));
  }
  if (gate != nullptr) {
    options.gate = gate->spec().form;
    inputs.gate_scores = projected.gates.scores(gate->position());
  }
  return probed_attention(context, inputs, call, options);
}

// What is behind attention's result up to the output projection.
Var Attention::gated(const Context& context, const Var& mixed, const ScoredGates& gates,
                     const LayerCall& call) const {
  const Var seen = tap(context, {call.layer, points::kMixed}, by_heads(mixed, shape_.sizes.heads), mixed);
  return gates.apply(context, GatePosition::G1, with_controls(context, seen, call.pass));
}

Var Attention::with_controls(const Context& context, const Var& mixed, const Pass& pass) const {
  const int64_t heads = shape_.sizes.heads;
  Var y = mixed;
  if (head_norm_.present()) {
    // A rotation of no channels leaves the norm per head.
    const Shape no_channels{pass.rotary.table.cos.rows(), 0};
    const Rotary unrotated{
        .table = {.cos = context.empty(no_channels, y.dtype()), .sin = context.empty(no_channels, y.dtype())},
        .positions = pass.rotary.positions};
    y = norm_rope(context, y, use(context, head_norm_.weight), unrotated,
                  {.heads = heads, .norm = head_norm_.options});
  }
  // x · sigmoid(x) is a gate whose scores are x itself.
  return shape_.head_silu ? gate(context, y, y, heads, {}) : y;
}

LayerOutput Attention::output(const Context& context, const Var& gated, const ScoredGates& gates,
                              const LayerCall& call) const {
  const Var input = tap(context, {call.layer, points::kGated}, by_heads(gated, shape_.sizes.heads), gated);
  if (!call.residual.value().defined())
    return {.y = gates.apply(context, GatePosition::G5, o_.apply(context, input))};
  SLUICE_ASSERT(takes_residual(), "attention: a residual before the gate of the output");
  return {.y = add_linear(context, call.residual, input, o_.weights(context))};
}

LayerOutput Attention::apply(const Context& context, const Var& x, const LayerCall& call) const {
  Projected projected = project(context, x, call.layer);
  rotate(context, call, projected);
  const Var y = gates_while_mixing(context, call.layer)
                    ? attend(context, projected, call, gates_.at(GatePosition::G1))
                    : gated(context, attend(context, projected, call), projected.gates, call);
  return output(context, y, projected.gates, call);
}

namespace {

struct AttendedTokens : MixedTokens {
  AttendedTokens(Var values, ScoredGates scored) : y(std::move(values)), gates(std::move(scored)) {}

  std::unique_ptr<MixedTokens> repeated(const Context& context, int64_t count) const override {
    return std::make_unique<AttendedTokens>(Var(repeat_rows(context, y.value(), count)),
                                            gates.repeated(context, count));
  }

  Var y;  // [N, H · hd], before the gate
  ScoredGates gates;
};

}  // namespace

std::unique_ptr<MixedTokens> Attention::mix(const Context& context, const Var& x,
                                            const LayerCall& call) const {
  Projected projected = project(context, x, call.layer);
  rotate(context, call, projected);
  return std::make_unique<AttendedTokens>(attend(context, projected, call), projected.gates);
}

LayerOutput Attention::finish(const Context& context, const MixedTokens& mixed, const LayerCall& call) const {
  const auto* attended = dynamic_cast<const AttendedTokens*>(&mixed);
  SLUICE_ASSERT(attended != nullptr, "attention: the tokens of another kind of mixer");
  return output(context, gated(context, attended->y, attended->gates, call), attended->gates, call);
}

}  // namespace sluice
