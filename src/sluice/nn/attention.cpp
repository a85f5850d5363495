#include "sluice/nn/attention.h"

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
  return cached.first_rows(length + rows.rows());
}

}  // namespace

Var AttentionLayer::gated(const Context& context, GatePosition position, const AttentionCall& call,
                          const Projected& from, const Var& y) {
  const auto found = gates.find(position);
  if (found == gates.end()) return y;
  return found->second.apply(context, {call.layer, tap_point(position)}, from.scores.at(position), y);
}

AttentionLayer::Projected AttentionLayer::project(const Context& context, const Var& x) {
  std::vector<LinearWeights> layers = {q.weights(context), k.weights(context), v.weights(context)};
  for (auto& [position, gate] : gates) {
    if (gate.is_linear()) layers.push_back(gate.scores.weights(context));
  }
  const std::vector<Var> results = linears(context, x, layers);
  Projected projected{.q = results[0], .k = results[1], .v = results[2], .scores = {}};
  size_t next = 3;
  for (auto& [position, gate] : gates)
    projected.scores[position] = gate.is_linear() ? results[next++] : gate.scores_of(context, x);
  return projected;
}

// Norms, rotation and the gates of queries, keys and values.
void AttentionLayer::rotate(const Context& context, const AttentionCall& call, Projected& projected) {
  const auto rotated = [&](Var y, Norm& norm, GatePosition position, int64_t count) {
    const auto found = gates.find(position);
    const bool before = found != gates.end() && found->second.spec.order == GateOrder::BeforeNorm;
    if (before) y = gated(context, position, call, projected, y);
    const Var weight = norm.present() ? use(context, norm.weight) : Var();
    y = norm_rope(context, y, weight, call.placement.rotary, {.heads = count, .norm = norm.options});
    return before ? y : gated(context, position, call, projected, y);
  };
  const auto seen = [&](std::string_view point, const Var& y, int64_t count) {
    return tap(context, {call.layer, point}, by_heads(y, count), y);
  };
  projected.q = rotated(projected.q, q_norm, GatePosition::G4, heads);
  projected.k = rotated(projected.k, k_norm, GatePosition::G3, kv_heads);
  projected.v = gated(context, GatePosition::G2, call, projected, projected.v);
  projected.q = seen(points::kQuery, projected.q, heads);
  projected.k = seen(points::kKey, projected.k, kv_heads);
  projected.v = seen(points::kValue, projected.v, kv_heads);
}

// Whether attention itself can apply g1: nothing stands between the two, and nobody looks there.
bool AttentionLayer::gates_while_mixing(const Context& context, int64_t layer) const {
  const auto found = gates.find(GatePosition::G1);
  if (found == gates.end() || found->second.spec.form.sharing == Sharing::Shared) return false;
  if (head_norm.present() || head_silu) return false;
  return !watched(context, {layer, points::kMixed}) && !watched(context, {layer, points::kGate});
}

// Attention's result with g1 and everything that stands before it.
Var AttentionLayer::mix(const Context& context, const Projected& projected, const AttentionCall& call) {
  AttentionInputs inputs{projected.q, projected.k, projected.v};
  AttentionOptions options{.heads = heads, .kv_heads = kv_heads};
  if (q.is_narrow()) options.weights = Precision::Bf16;
  if (KvCache* cache = call.cache; cache != nullptr) {
    options.past = cache->length;
    inputs.k = Var(append(cache->k, cache->length, projected.k.value()));
    inputs.v = Var(append(cache->v, cache->length, projected.v.value()));
    cache->length += projected.k.rows();
  }
  if (gates_while_mixing(context, call.layer)) {
    options.gate = gates.at(GatePosition::G1).spec.form;
    inputs.gate_scores = projected.scores.at(GatePosition::G1);
    return watch(context, call, inputs, options);
  }
  const Var y = watch(context, call, inputs, options);
  const Var mixed = tap(context, {call.layer, points::kMixed}, by_heads(y, heads), y);
  return gated(context, GatePosition::G1, call, projected, controlled(context, mixed, call.placement));
}

// attention(), with what a probe wants to know of its probabilities.
Var AttentionLayer::watch(const Context& context, const AttentionCall& call, const AttentionInputs& inputs,
                          AttentionOptions options) const {
  const int64_t layer = call.layer;
  std::vector<Tensor> probs;
  Tensor sink, entropy;
  if (watched(context, {layer, points::kProbs})) options.capture_probs = &probs;
  if (watched(context, {layer, points::kSink})) options.capture_sink = &sink;
  if (watched(context, {layer, points::kEntropy})) options.capture_entropy = &entropy;
  const Var y = attention(context, inputs, call.placement.sequences, options);
  for (const Tensor& sequence : probs) context.probe->visit(context, {layer, points::kProbs}, sequence);
  if (sink.defined()) context.probe->visit(context, {layer, points::kSink}, sink);
  if (entropy.defined()) context.probe->visit(context, {layer, points::kEntropy}, entropy);
  return y;
}

Var AttentionLayer::controlled(const Context& context, const Var& mixed, const Placement& placement) {
  Var y = mixed;
  if (head_norm.present()) {
    // A rotation of no channels leaves the norm per head.
    const Rotary still{.table = {.cos = context.empty({placement.rotary.table.cos.rows(), 0}, y.dtype()),
                                 .sin = context.empty({placement.rotary.table.cos.rows(), 0}, y.dtype())},
                       .positions = placement.rotary.positions};
    y = norm_rope(context, y, use(context, head_norm.weight), still,
                  {.heads = heads, .norm = head_norm.options});
  }
  // x · sigmoid(x) is a gate whose scores are x itself.
  return head_silu ? gate(context, y, y, heads, {}) : y;
}

Var AttentionLayer::apply(const Context& context, const Var& x, const AttentionCall& call) {
  Projected projected = project(context, x);
  rotate(context, call, projected);
  const Var modulated = mix(context, projected, call);
  const Var input = tap(context, {call.layer, points::kGated}, by_heads(modulated, heads), modulated);
  if (!call.residual.value().defined())
    return gated(context, GatePosition::G5, call, projected, o.apply(context, input));
  SLUICE_ASSERT(ends_in_projection(), "attention: a residual before the gate g5");
  return add_linear(context, call.residual, input, o.weights(context));
}

}  // namespace sluice
