// A gate that attention applies itself gives the bits that a gate of its own gives.
#include <gtest/gtest.h>

#include "sluice/ops/attention.h"
#include "sluice/ops/gate.h"
#include "tests/ops/evaluate.h"
#include "tests/ops/every_set.h"

namespace sluice::test {
namespace {

constexpr int64_t kTokens = 45, kHeads = 4, kKvHeads = 2, kHeadDim = 20;

const Sequences& sequences() {
  static const Sequences all = Sequences::of_lengths({5, 40});
  return all;
}

std::vector<GateForm> forms() {
  std::vector<GateForm> all;
  for (const auto granularity : {Granularity::Elementwise, Granularity::Headwise}) {
    for (const auto mode : {GateMode::Multiply, GateMode::Add}) {
      for (const auto activation :
           {Activation::Sigmoid, Activation::Silu, Activation::Identity, Activation::NsSigmoid,
            Activation::TwoSigmoid, Activation::Softplus, Activation::Tanh})
        all.push_back({.activation = activation, .mode = mode, .granularity = granularity});
    }
  }
  return all;
}

OpCase fused(const GateForm& form, Precision precision) {
  const bool headwise = form.granularity == Granularity::Headwise;
  const Shape q{kTokens, kHeads * kHeadDim}, kv{kTokens, kKvHeads * kHeadDim};
  return {.name = "fused",
          .operands = {q, kv, kv, {kTokens, headwise ? kHeads : kHeads * kHeadDim}},
          .apply = [=](const Context& context, const std::vector<Var>& in) {
            return attention(context, {in[0], in[1], in[2], in[3]}, sequences(),
                             {.heads = kHeads, .kv_heads = kKvHeads, .gate = form, .weights = precision});
          }};
}

OpCase apart(const GateForm& form, Precision precision) {
  OpCase op_case = fused(form, precision);
  op_case.apply = [=](const Context& context, const std::vector<Var>& in) {
    const Var y = attention(context, {in[0], in[1], in[2]}, sequences(),
                            {.heads = kHeads, .kv_heads = kKvHeads, .weights = precision});
    return gate(context, y, in[3], kHeads, form);
  };
  return op_case;
}

TEST(AttentionGate, equals_a_gate_afterwards_bit_by_bit) {
  for (const GateForm& form : forms()) {
    const std::vector<Values> operands = operand_values(fused(form, Precision::F32));
    with_every_set([&](Engine& engine) {
      for (const Precision precision : {Precision::F32, Precision::Bf16}) {
        const Evaluation expected = evaluate(engine, apart(form, precision), DType::F32, operands);
        const Evaluation got = evaluate(engine, fused(form, precision), DType::F32, operands);
        EXPECT_EQ(got.result, expected.result) << static_cast<int>(form.activation);
        EXPECT_EQ(got.gradients, expected.gradients) << static_cast<int>(form.activation);
      }
    });
  }
}

TEST(AttentionGate, gives_the_same_without_a_tape) {
  with_every_set([](Engine& engine) {
    const OpCase op_case = fused({}, Precision::F32);
    const std::vector<Values> operands = operand_values(op_case);
    const Evaluation recorded = evaluate(engine, op_case, DType::F32, operands);
    std::vector<Var> constants;
    for (size_t i = 0; i < operands.size(); ++i) {
      const std::vector<float> values(operands[i].begin(), operands[i].end());
      constants.emplace_back(Tensor::from<float>(engine.pool(), op_case.operands[i], values));
    }
    const Tensor y = op_case.apply({engine}, constants).value();
    EXPECT_EQ(Values(y.values<float>().begin(), y.values<float>().end()), recorded.result);
  });
}

TEST(AttentionGate, refuses_scores_that_do_not_fit) {
  Engine engine;
  const Context context{engine};
  const Var q(context.zeros({4, 6}, DType::F32)), kv(context.zeros({4, 3}, DType::F32));
  const Sequences four = Sequences::equal(1, 4);
  EXPECT_THROW(attention(context, {q, kv, kv, kv}, four, {.heads = 2, .kv_heads = 1, .gate = GateForm{}}),
               AssertionError);
  EXPECT_THROW(attention(context, {q, kv, kv, q}, four,
                         {.heads = 2, .kv_heads = 1, .gate = GateForm{.sharing = Sharing::Shared}}),
               AssertionError);
}

}  // namespace
}  // namespace sluice::test
