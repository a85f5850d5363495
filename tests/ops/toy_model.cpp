#include "tests/ops/toy_model.h"

#include <cmath>

#include "sluice/base/random.h"
#include "sluice/ops/arithmetic.h"
#include "sluice/ops/attention.h"
#include "sluice/ops/embedding.h"
#include "sluice/ops/gate.h"
#include "sluice/ops/linear.h"
#include "sluice/ops/linear_cross_entropy.h"
#include "sluice/ops/rms_norm.h"
#include "sluice/ops/swiglu.h"

namespace sluice::test {

ToyModel::ToyModel(Engine& engine) : engine_(engine), sequences_(Sequences::equal(kBatch, kLength)) {
  const Context context{engine_};
  embedding_ = make("embedding", {kVocabulary, kHidden}, 0, 1);
  head_ = make("head", {kVocabulary, kHidden}, 0, 0.1F);
  for (int64_t i = 0; i < kBlocks; ++i) blocks_.push_back(make_block("block" + std::to_string(i) + "."));
  rotary_.table = rope_table(
      context, {.positions = kLength, .frequencies = rope_frequencies(kHeadDim, 10000.0)}, DType::F32);
  rotary_.positions = context.empty({sequences_.tokens()}, DType::I32);
  for (int64_t n = 0; n < sequences_.tokens(); ++n) {
    rotary_.positions.data<int32_t>()[n] = static_cast<int32_t>(n % kLength);
  }
}

Parameter* ToyModel::make(const std::string& name, const Shape& shape, float mean, float std) {
  const Context context{engine_};
  auto parameter =
      std::make_unique<Parameter>(Parameter{.name = name, .value = context.empty(shape, DType::F32)});
  Random(1, parameters_.size()).fill_normal(parameter->value.values<float>(), 0, mean, std);
  first_moments_.push_back(context.zeros(shape, DType::F32));
  second_moments_.push_back(context.zeros(shape, DType::F32));
  parameters_.push_back(std::move(parameter));
  return parameters_.back().get();
}

ToyModel::BlockWeights ToyModel::make_block(const std::string& prefix) {
  const auto weight = [&](const char* name, int64_t out, int64_t in) {
    return make(prefix + name, {out, in}, 0, 1 / std::sqrt(static_cast<float>(in)));
  };
  const auto norm = [&](const char* name, int64_t width) { return make(prefix + name, {width}, 1, 0); };
  return {.attention_norm = norm("attention_norm", kHidden),
          .q = weight("q", kHeads * kHeadDim, kHidden),
          .k = weight("k", kKvHeads * kHeadDim, kHidden),
          .v = weight("v", kKvHeads * kHeadDim, kHidden),
          .o = weight("o", kHidden, kHeads * kHeadDim),
          .q_norm = norm("q_norm", kHeadDim),
          .k_norm = norm("k_norm", kHeadDim),
          .mlp_norm = norm("mlp_norm", kHidden),
          .gate = weight("gate", kFeedForward, kHidden),
          .up = weight("up", kFeedForward, kHidden),
          .down = weight("down", kHidden, kFeedForward),
          .g1 = weight("g1", kHeads * kHeadDim, kHidden),  // elementwise
          .g2 = weight("g2", kKvHeads, kHidden),           // headwise
          .g3 = weight("g3", kKvHeads, kHidden),           // headwise, shared
          .g4 = weight("g4", kHeads * kHeadDim, kHidden),  // elementwise, shared
          .g5 = make(prefix + "g5", {kHidden}, 0, 0)};     // input-independent
}

Var ToyModel::attention_part(const Context& context, const BlockWeights& w, const Var& x) const {
  const Var normed = rms_norm(context, x, use(context, *w.attention_norm));
  const auto project = [&](Parameter* weight) { return linear(context, normed, {use(context, *weight)}); };
  Var q = norm_rope(context, project(w.q), use(context, *w.q_norm), rotary_, {.heads = kHeads});
  Var k = norm_rope(context, project(w.k), use(context, *w.k_norm), rotary_, {.heads = kKvHeads});
  q = gate(context, q, project(w.g4), kHeads,
           {.activation = Activation::TwoSigmoid, .sharing = Sharing::Shared});
  k = gate(context, k, project(w.g3), kKvHeads,
           {.activation = Activation::NsSigmoid,
            .granularity = Granularity::Headwise,
            .sharing = Sharing::Shared});
  const Var v = gate(context, project(w.v), project(w.g2), kKvHeads, {.granularity = Granularity::Headwise});
  const Var y = attention(context, {q, k, v}, sequences_, {.heads = kHeads, .kv_heads = kKvHeads});
  const Var gated = gate(context, y, project(w.g1), kHeads, {});
  const Var out = linear(context, gated, {use(context, *w.o)});
  const Var constant = repeat_row(context, use(context, *w.g5), out.rows());
  return gate(context, out, constant, 1, {.activation = Activation::TwoSigmoid});
}

Var ToyModel::block(const Context& context, const BlockWeights& w, const Var& x) const {
  const Var middle = add(context, x, attention_part(context, w, x));
  const Var normed = rms_norm(context, middle, use(context, *w.mlp_norm));
  const Var hidden = swiglu(context, linear(context, normed, {use(context, *w.gate)}),
                            linear(context, normed, {use(context, *w.up)}));
  return add(context, middle, linear(context, hidden, {use(context, *w.down)}));
}

float ToyModel::train_step(int step, Activations activations) {
  Tape tape;
  const Context context{.engine = engine_, .tape = &tape, .activations = activations};
  // The second half of every sequence repeats the first: only a model that looks back can predict it.
  const Tensor tokens = context.empty({sequences_.tokens()}, DType::I32);
  const Tensor targets = context.empty({sequences_.tokens()}, DType::I32);
  const Random random(2, static_cast<uint64_t>(step));
  const auto token_at = [&](int64_t sequence, int64_t t) {
    return static_cast<int32_t>(random.below(sequence * kLength + t % (kLength / 2), kVocabulary));
  };
  for (int64_t n = 0; n < sequences_.tokens(); ++n) {
    const int64_t t = n % kLength;
    const bool predictable = t >= kLength / 2 - 1 && t + 1 < kLength;
    tokens.data<int32_t>()[n] = token_at(n / kLength, t);
    targets.data<int32_t>()[n] = predictable ? token_at(n / kLength, t + 1) : kIgnoredTarget;
  }
  Var x = embedding(context, use(context, *embedding_), tokens);
  for (const BlockWeights& weights : blocks_) {
    x = run_block(context, {x}, [this, &weights](const Context& inner, const std::vector<Var>& in) {
      return std::vector<Var>{block(inner, weights, in[0])};
    })[0];
  }
  const Var loss = linear_cross_entropy(context, x, use(context, *head_), targets, {.chunk = 50});
  tape.backward(context, loss);
  return *loss.value().data<float>();
}

void ToyModel::update(int step) {
  constexpr float kRate = 0.01F, kBeta1 = 0.9F, kBeta2 = 0.99F;
  const float correction1 = 1 - std::pow(kBeta1, static_cast<float>(step + 1));
  const float correction2 = 1 - std::pow(kBeta2, static_cast<float>(step + 1));
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const auto weights = parameters_[p]->value.values<float>();
    const auto gradients = parameters_[p]->grad.values<float>();
    const auto m = first_moments_[p].values<float>();
    const auto v = second_moments_[p].values<float>();
    for (size_t i = 0; i < weights.size(); ++i) {
      m[i] = kBeta1 * m[i] + (1 - kBeta1) * gradients[i];
      v[i] = kBeta2 * v[i] + (1 - kBeta2) * gradients[i] * gradients[i];
      weights[i] -= kRate * (m[i] / correction1) / (std::sqrt(v[i] / correction2) + 1e-8F);
    }
    parameters_[p]->grad = {};
  }
}

}  // namespace sluice::test
