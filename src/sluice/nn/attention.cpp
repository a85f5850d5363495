#include "sluice/nn/attention.h"

#include "sluice/ops/attention.h"
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

Var AttentionLayer::gated(const Context& context, GatePosition position, int64_t layer, const Var& x,
                          const Var& y) {
  const auto found = gates.find(position);
  if (found == gates.end()) return y;
  return found->second.apply(context, {layer, tap_point(position)}, x, y);
}

AttentionLayer::Projected AttentionLayer::project(const Context& context, int64_t layer, const Var& x,
                                                  const Placement& placement) {
  const auto rotated = [&](Linear& projection, Norm& norm, GatePosition position, int64_t count) {
    Var y = projection.apply(context, x);
    const auto found = gates.find(position);
    const bool before = found != gates.end() && found->second.spec.order == GateOrder::BeforeNorm;
    if (before) y = gated(context, position, layer, x, y);
    const Var weight = norm.present() ? use(context, norm.weight) : Var();
    y = norm_rope(context, y, weight, placement.rotary, {.heads = count, .norm = norm.options});
    return before ? y : gated(context, position, layer, x, y);
  };
  const Var queries = rotated(q, q_norm, GatePosition::G4, heads);
  const Var keys = rotated(k, k_norm, GatePosition::G3, kv_heads);
  const Var values = gated(context, GatePosition::G2, layer, x, v.apply(context, x));
  return {.q = tap(context, {layer, points::kQuery}, by_heads(queries, heads), queries),
          .k = tap(context, {layer, points::kKey}, by_heads(keys, kv_heads), keys),
          .v = tap(context, {layer, points::kValue}, by_heads(values, kv_heads), values)};
}

Var AttentionLayer::mix(const Context& context, int64_t layer, const Projected& projected,
                        const Placement& placement, KvCache* cache) {
  AttentionInputs inputs{projected.q, projected.k, projected.v};
  AttentionOptions options{.heads = heads, .kv_heads = kv_heads};
  if (cache != nullptr) {
    options.past = cache->length;
    inputs.k = Var(append(cache->k, cache->length, projected.k.value()));
    inputs.v = Var(append(cache->v, cache->length, projected.v.value()));
    cache->length += projected.k.rows();
  }
  const TapName name{layer, points::kProbs};
  std::vector<Tensor> probs;
  if (watched(context, name)) options.capture_probs = &probs;
  const Var mixed = attention(context, inputs, placement.sequences, options);
  for (const Tensor& sequence : probs) context.probe->visit(context, name, sequence);
  return tap(context, {layer, points::kMixed}, by_heads(mixed, heads), mixed);
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

Var AttentionLayer::apply(const Context& context, int64_t layer, const Var& x, const Placement& placement,
                          KvCache* cache) {
  const Projected projected = project(context, layer, x, placement);
  const Var mixed = controlled(context, mix(context, layer, projected, placement, cache), placement);
  const Var modulated = gated(context, GatePosition::G1, layer, x, mixed);
  const Var input = tap(context, {layer, points::kGated}, by_heads(modulated, heads), modulated);
  return gated(context, GatePosition::G5, layer, x, o.apply(context, input));
}

}  // namespace sluice
