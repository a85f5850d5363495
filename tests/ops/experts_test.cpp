// Experts compute what a dense perceptron for the rows of each would, in every form of weights, and send rows
// where the probabilities say.
#include "sluice/ops/experts.h"

#include <gtest/gtest.h>

#include <limits>

#include "sluice/ops/arithmetic.h"
#include "sluice/ops/convert.h"
#include "tests/ops/every_set.h"
#include "tests/ops/random_tensor.h"

namespace sluice::test {
namespace {

constexpr int64_t kRowWidth = 70, kExpertWidth = 45, kExperts = 6;

enum class Form { F32, Bf16, Int8 };

std::vector<float> list_of(const Tensor& tensor) {
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

Weight weight_in(const Context& context, Form form, const Tensor& values) {
  if (form == Form::F32) return Weight(Var(values));
  if (form == Form::Bf16) return Weight(Var(convert(context, values, DType::BF16)));
  const Int8Matrix matrix = empty_int8_matrix(context, values.rows(), values.cols());
  quantize_rows(context, values, {0, values.rows()}, matrix);
  return Weight(matrix);
}

ExpertWeights some_experts(const Context& context, Form form) {
  ExpertWeights weights;
  for (uint64_t e = 0; e < kExperts; ++e) {
    weights.gate.push_back(weight_in(context, form, normal(context, {kExpertWidth, kRowWidth}, 10 * e)));
    weights.up.push_back(weight_in(context, form, normal(context, {kExpertWidth, kRowWidth}, 10 * e + 1)));
    weights.down.push_back(weight_in(context, form, normal(context, {kRowWidth, kExpertWidth}, 10 * e + 2)));
  }
  return weights;
}

// Expert 0 gets every token, 1 every other …, and the last none: many rows, few and no rows in one pass.
Tensor uneven_choice(const Context& context, int64_t tokens) {
  const Tensor chosen = context.empty({tokens, 2}, DType::I32);
  for (int64_t t = 0; t < tokens; ++t) {
    chosen.data<int32_t>()[2 * t] = 0;
    chosen.data<int32_t>()[2 * t + 1] = t % 2 == 1 ? 1 : t % 7 == 0 ? 2 : t == 2 ? 4 : 3;
  }
  return chosen;
}

// Row by row what mlp() makes of the tokens of each expert.
Tensor expert_by_expert(const Context& context, const Tensor& x, const ExpertRows& rows,
                        const ExpertWeights& weights) {
  const Tensor y = context.empty({rows.groups.total(), kRowWidth}, DType::F32);
  for (int64_t e = 0; e < kExperts; ++e) {
    const auto [begin, end] = rows.groups.rows(e);
    if (begin == end) continue;
    const Tensor mine = context.empty({end - begin, kRowWidth}, DType::F32);
    for (int64_t r = begin; r < end; ++r)
      std::copy_n(x.data<float>() + rows.tokens.data<int32_t>()[r] * kRowWidth, kRowWidth,
                  mine.data<float>() + (r - begin) * kRowWidth);
    const auto i = static_cast<size_t>(e);
    const Tensor made =
        mlp(context, Var(mine), {{weights.gate[i]}, {weights.up[i]}, {weights.down[i]}}).value();
    std::copy_n(made.data<float>(), made.count(), y.data<float>() + begin * kRowWidth);
  }
  return y;
}

struct ExpertForm {
  std::string name;
  Form form;
  Precision precision;
};

class ExpertForms : public testing::TestWithParam<ExpertForm> {};

TEST_P(ExpertForms, give_the_bits_of_a_perceptron_for_each_expert) {
  with_every_set([&](Engine& engine) {
    for (const Packing packing : {Packing::Once, Packing::Keep}) {
      const Context context{.engine = engine, .precision = GetParam().precision, .packing = packing};
      const ExpertWeights weights = some_experts(context, GetParam().form);
      for (const int64_t tokens : {1, 3, 50, 300}) {
        const Tensor x = normal(context, {tokens, kRowWidth}, 99);
        const ExpertRows rows = sorted_by_expert(context, uneven_choice(context, tokens), kExperts);
        const Tensor got = expert_mlps(context, Var(x), rows, weights).value();
        const std::vector<float> expected = list_of(expert_by_expert(context, x, rows, weights));
        // A group of a few rows in bf16 is read as it is stored, or on tiles beside larger ones: another
        // order of sums.
        const bool exact = GetParam().form != Form::Bf16 || tokens < 4;
        for (size_t i = 0; i < expected.size(); ++i) {
          const double allowed = exact ? 0.0 : 2e-2 * std::max(1.0, std::abs(double{expected[i]}));
          ASSERT_NEAR(got.values<float>()[i], expected[i], allowed) << tokens << " tokens, element " << i;
        }
      }
    }
  });
}

TEST_P(ExpertForms, give_the_same_bits_for_any_number_of_threads) {
  const auto made = [&](int threads) {
    Engine engine({.threads = threads});
    const Context context{.engine = engine, .precision = GetParam().precision};
    const ExpertRows rows = sorted_by_expert(context, uneven_choice(context, 300), kExperts);
    return list_of(expert_mlps(context, Var(normal(context, {300, kRowWidth}, 99)), rows,
                               some_experts(context, GetParam().form))
                       .value());
  };
  const std::vector<float> expected = made(1);
  EXPECT_EQ(made(2), expected);
  EXPECT_EQ(made(3), expected);
}

INSTANTIATE_TEST_SUITE_P(All, ExpertForms,
                         testing::Values(ExpertForm{"f32", Form::F32, Precision::F32},
                                         ExpertForm{"f32_rounded", Form::F32, Precision::Bf16},
                                         ExpertForm{"bf16", Form::Bf16, Precision::F32},
                                         ExpertForm{"int8", Form::Int8, Precision::F32}),
                         [](const auto& test) { return test.param.name; });

struct RoundedPass {
  std::vector<float> y, dx;
  std::vector<std::vector<float>> dweights;

  bool operator==(const RoundedPass&) const = default;
};

// Forward and backward as training in bf16 does it.
RoundedPass rounded_pass(int threads, Packing packing) {
  Engine engine({.threads = threads});
  const Context plain{.engine = engine, .precision = Precision::Bf16, .packing = packing};
  Tape tape;
  const Context context = plain.with_tape(&tape);
  const Var x = tape.leaf(normal(plain, {100, kRowWidth}, 99));
  ExpertWeights weights;
  std::vector<Var> leaves;
  for (uint64_t e = 0; e < kExperts; ++e) {
    leaves.push_back(tape.leaf(normal(plain, {kExpertWidth, kRowWidth}, 10 * e)));
    leaves.push_back(tape.leaf(normal(plain, {kExpertWidth, kRowWidth}, 10 * e + 1)));
    leaves.push_back(tape.leaf(normal(plain, {kRowWidth, kExpertWidth}, 10 * e + 2)));
    weights.gate.emplace_back(leaves[3 * e]);
    weights.up.emplace_back(leaves[3 * e + 1]);
    weights.down.emplace_back(leaves[3 * e + 2]);
  }
  const ExpertRows rows = sorted_by_expert(plain, uneven_choice(plain, 100), kExperts);
  const Var y = expert_mlps(context, x, rows, weights);
  RoundedPass made{.y = list_of(y.value()), .dx = {}, .dweights = {}};
  tape.backward(context, y, normal(plain, y.shape(), 7));
  made.dx = list_of(tape.gradient(x));
  for (const Var& leaf : leaves) made.dweights.push_back(list_of(tape.gradient(leaf)));
  return made;
}

TEST(RoundedExperts, have_the_same_gradients_for_any_number_of_threads_and_packing) {
  const RoundedPass expected = rounded_pass(1, Packing::Once);
  EXPECT_EQ(rounded_pass(2, Packing::Once), expected);
  EXPECT_EQ(rounded_pass(3, Packing::Keep), expected);
}

TEST(RoundedExperts, give_an_expert_without_rows_gradients_of_zeros) {
  const RoundedPass made = rounded_pass(2, Packing::Once);
  for (size_t i = 3 * (kExperts - 1); i < made.dweights.size(); ++i) {
    ASSERT_FALSE(made.dweights[i].empty());
    EXPECT_TRUE(std::ranges::all_of(made.dweights[i], [](float x) { return x == 0; }));
  }
}

TEST(ExpertChoice, takes_the_largest_and_of_equals_the_first) {
  Engine engine;
  const Context context{engine};
  const std::vector<float> p = {0.1F, 0.3F, 0.2F, 0.3F, 0.1F,   // a tie at the top
                                0.2F, 0.2F, 0.2F, 0.2F, 0.2F};  // nothing but ties
  const Var probabilities(Tensor::from<float>(engine.pool(), {2, 5}, p));
  const ExpertChoice raw = choose_experts(context, probabilities, 3, ChoiceWeights::Raw);
  EXPECT_EQ(std::vector(raw.experts.values<int32_t>().begin(), raw.experts.values<int32_t>().end()),
            (std::vector<int32_t>{1, 3, 2, 0, 1, 2}));
  EXPECT_EQ(list_of(raw.weights.value()), (std::vector<float>{0.3F, 0.3F, 0.2F, 0.2F, 0.2F, 0.2F}));
  const ExpertChoice even = choose_experts(context, probabilities, 3, ChoiceWeights::Normalised);
  EXPECT_FLOAT_EQ(even.weights.value().data<float>()[0], 0.375F);
  EXPECT_FLOAT_EQ(even.weights.value().data<float>()[5], 1.0F / 3);
}

TEST(ExpertChoice, survives_what_is_not_a_number) {
  Engine engine;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Var probabilities(Tensor::from<float>(engine.pool(), {1, 3}, std::vector<float>{nan, nan, nan}));
  const ExpertChoice choice = choose_experts({engine}, probabilities, 2, ChoiceWeights::Normalised);
  EXPECT_EQ(choice.experts.data<int32_t>()[0], 0);
  EXPECT_EQ(choice.experts.data<int32_t>()[1], 1);
}

TEST(ExpertRows, lie_by_expert_and_in_the_order_of_tokens) {
  Engine engine;
  const Context context{engine};
  const Tensor experts = Tensor::from<int32_t>(engine.pool(), {3, 2}, std::vector<int32_t>{2, 0, 0, 3, 2, 3});
  const ExpertRows rows = sorted_by_expert(context, experts, 5);
  EXPECT_EQ(rows.groups.starts, (std::vector<int64_t>{0, 2, 2, 4, 6, 6}));
  const auto list = [](const Tensor& t) {
    return std::vector(t.values<int32_t>().begin(), t.values<int32_t>().end());
  };
  EXPECT_EQ(list(rows.tokens), (std::vector<int32_t>{0, 1, 0, 2, 1, 2}));
  EXPECT_EQ(list(rows.places), (std::vector<int32_t>{2, 0, 1, 4, 3, 5}));
}

}  // namespace
}  // namespace sluice::test
