// Attention with operands rounded to bf16, where a set does that, against the f64 twin that rounds the same.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sluice/base/random.h"
#include "sluice/ops/attention.h"
#include "tests/ops/evaluate.h"
#include "tests/ops/every_set.h"

namespace sluice::test {
namespace {

struct Size {
  std::string name;
  std::vector<int64_t> lengths;
  int64_t heads, kv_heads, head_dim;
  std::optional<GateForm> gate = {};
  std::optional<double> scale = {};

  Sequences sequences() const { return Sequences::of_lengths(lengths); }
};

// 32 tokens and 32 channels make a pair of tiles, 128 queries and 256 keys a block; fewer than 8 queries are
// not rounded.
const std::vector<Size>& sizes() {
  static const std::vector<Size> all = {
      {"nothing", {}, 2, 1, 4},
      {"empty_sequence", {0}, 2, 1, 4},
      {"few_and_enough", {7, 8}, 2, 1, 6},
      {"one_pair", {32}, 1, 1, 32},
      {"odd", {33}, 3, 1, 20},
      {"unequal_lengths", {3, 0, 70, 1, 40}, 4, 2, 16},
      {"block_edge", {128, 129}, 1, 1, 32},
      {"two_key_blocks", {300}, 1, 1, 33},
      {"sharp", {280}, 1, 1, 32, {}, 2.0},
      {"wide", {40}, 2, 1, 256},
      {"gated", {50}, 4, 2, 20, GateForm{}},
      {"gated_by_head", {50}, 4, 2, 64, GateForm{.granularity = Granularity::Headwise}},
  };
  return all;
}

OpCase case_of(const Size& size, Precision precision) {
  const int64_t tokens = size.sequences().tokens();
  const Shape q{tokens, size.heads * size.head_dim}, kv{tokens, size.kv_heads * size.head_dim};
  OpCase op_case{.name = size.name, .operands = {q, kv, kv}, .apply = {}};
  if (size.gate) {
    const bool headwise = size.gate->granularity == Granularity::Headwise;
    op_case.operands.push_back({tokens, headwise ? size.heads : q[1]});
  }
  op_case.apply = [size, precision](const Context& context, const std::vector<Var>& in) {
    return attention(context, {in[0], in[1], in[2], size.gate ? in[3] : Var()}, size.sequences(),
                     {.heads = size.heads,
                      .kv_heads = size.kv_heads,
                      .scale = size.scale,
                      .gate = size.gate,
                      .weights = precision});
  };
  return op_case;
}

// A probability is rounded relative to the largest score so far, here and in the twin to another one, and
// what lies near the middle between two bf16 may go either way: half a last bit each, of one term or of all.
void expect_near(const Values& got, const Values& expected, const std::string& what) {
  constexpr double kLastBit = 1.0 / 256;
  ASSERT_EQ(got.size(), expected.size()) << what;
  double largest = 0, squares = 0, errors = 0;
  for (const double value : expected) {
    largest = std::max(largest, std::abs(value));
    squares += value * value;
  }
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], kLastBit * largest) << what << ": element " << i;
    errors += (got[i] - expected[i]) * (got[i] - expected[i]);
  }
  EXPECT_LE(std::sqrt(errors), kLastBit / 4 * std::sqrt(squares)) << what << ": root of the mean square";
}

TEST(AttentionBf16, agrees_with_the_f64_twin_that_rounds_the_same) {
  Engine twin({.threads = 1, .isa = {.name = "scalar", .source = "test"}});
  for (const Size& size : sizes()) {
    SCOPED_TRACE(size.name);
    const std::vector<Values> operands = operand_values(case_of(size, Precision::Bf16));
    const Evaluation rounded = evaluate(twin, case_of(size, Precision::Bf16), DType::F64, operands);
    const Evaluation precise = evaluate(twin, case_of(size, Precision::F32), DType::F64, operands);
    with_every_set([&](Engine& engine) {
      const Evaluation& expected = rounds_attention(engine) ? rounded : precise;
      const Evaluation got = evaluate(engine, case_of(size, Precision::Bf16), DType::F32, operands);
      expect_near(got.result, expected.result, "result");
      for (size_t i = 0; i < operands.size(); ++i) {
        expect_near(got.gradients[i], expected.gradients[i], "gradient of operand " + std::to_string(i));
      }
    });
  }
}

TEST(AttentionBf16, rounds_where_it_says_so) {
  const Size size{"rounded", {40}, 2, 1, 32};
  const std::vector<Values> operands = operand_values(case_of(size, Precision::Bf16));
  with_every_set([&](Engine& engine) {
    const Evaluation f32 = evaluate(engine, case_of(size, Precision::F32), DType::F32, operands);
    const Evaluation bf16 = evaluate(engine, case_of(size, Precision::Bf16), DType::F32, operands);
    EXPECT_EQ(f32.result != bf16.result, rounds_attention(engine));
    EXPECT_EQ(f32.gradients != bf16.gradients, rounds_attention(engine));
  });
}

TEST(AttentionBf16, gives_the_same_bits_for_any_number_of_threads) {
  const Size size{"threads", {50, 9}, 4, 2, 20, GateForm{}};
  const OpCase op_case = case_of(size, Precision::Bf16);
  const std::vector<Values> operands = operand_values(op_case);
  for (const Isa isa : sets_of_this_machine()) {
    const auto run = [&](int threads) {
      Engine engine({.threads = threads, .isa = {.name = std::string(name_of(isa)), .source = "test"}});
      return evaluate(engine, op_case, DType::F32, operands);
    };
    const Evaluation one = run(1);
    // With 5, every head is a unit of its own.
    for (const int threads : {2, 5}) {
      const Evaluation several = run(threads);
      EXPECT_EQ(several.result, one.result) << name_of(isa) << ", " << threads << " threads";
      EXPECT_EQ(several.gradients, one.gradients) << name_of(isa) << ", " << threads << " threads";
    }
  }
}

constexpr int64_t kHeads = 2, kHeadDim = 20;

Tensor normal(Engine& engine, int64_t rows, int64_t cols, uint64_t stream) {
  Tensor tensor = Tensor::empty(engine.pool(), {rows, cols}, DType::F32);
  Random(21, stream).fill_normal(tensor.values<float>(), 0, 0.0F, 1.0F);
  return tensor;
}

std::vector<float> attend(Engine& engine, const std::vector<Tensor>& qkv, int64_t past = 0) {
  const Tensor y =
      attention({engine}, {Var(qkv[0]), Var(qkv[1]), Var(qkv[2])}, Sequences::equal(1, qkv[0].rows()),
                {.heads = kHeads, .kv_heads = 1, .past = past, .weights = Precision::Bf16})
          .value();
  return {y.values<float>().begin(), y.values<float>().end()};
}

// Not even as 0 · NaN.
TEST(AttentionBf16, does_not_let_earlier_queries_see_a_later_value) {
  with_every_set([](Engine& engine) {
    for (const int64_t tokens : {20, 70, 300}) {
      const Tensor q = normal(engine, tokens, kHeads * kHeadDim, 0), k = normal(engine, tokens, kHeadDim, 1),
                   v = normal(engine, tokens, kHeadDim, 2);
      const std::vector<float> expected = attend(engine, {q, k, v});
      for (const float odd :
           {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        for (const int64_t poisoned : {tokens / 2, tokens - 1}) {
          const Tensor other = v.copy(engine.pool());
          other.data<float>()[poisoned * kHeadDim + 1] = odd;
          const std::vector<float> y = attend(engine, {q, k, other});
          const int64_t width = kHeads * kHeadDim;
          for (int64_t i = 0; i < poisoned * width; ++i)
            ASSERT_EQ(y[static_cast<size_t>(i)], expected[static_cast<size_t>(i)]) << tokens << ", " << i;
          EXPECT_FALSE(std::isfinite(y[static_cast<size_t>(poisoned * width + 1)])) << tokens;
          EXPECT_EQ(y[static_cast<size_t>(poisoned * width)],
                    expected[static_cast<size_t>(poisoned * width)]);
        }
      }
    }
  });
}

TEST(AttentionBf16, of_new_queries_after_a_past_equals_that_of_the_whole) {
  with_every_set([](Engine& engine) {
    for (const auto& [past, fresh] : {std::pair{3, 70}, {130, 2}, {250, 40}}) {
      const int64_t tokens = past + fresh;
      const Tensor q = normal(engine, tokens, kHeads * kHeadDim, 0), k = normal(engine, tokens, kHeadDim, 1),
                   v = normal(engine, tokens, kHeadDim, 2);
      const std::vector<float> whole = attend(engine, {q, k, v});
      const auto last = q.values<float>().last(static_cast<size_t>(fresh * q.cols()));
      const Tensor fresh_q = Tensor::from<float>(engine.pool(), {fresh, q.cols()}, last);
      const std::vector<float> part = attend(engine, {fresh_q, k, v}, past);
      // Few queries are not rounded: then both differ by what rounding q, k and v makes of scores.
      const double tolerance = fresh < kFewQueries ? 0.05 : 1.0 / 256;
      for (size_t i = 0; i < part.size(); ++i)
        ASSERT_NEAR(part[i], whole[whole.size() - part.size() + i], tolerance) << past << " + " << fresh;
    }
  });
}

TEST(AttentionBf16, gives_no_weight_to_a_score_of_minus_infinity) {
  with_every_set([](Engine& engine) {
    const int64_t tokens = 40;
    const Tensor q = normal(engine, tokens, kHeads * kHeadDim, 0), k = normal(engine, tokens, kHeadDim, 1),
                 v = normal(engine, tokens, kHeadDim, 2);
    // Channel 0 decides: -1e38 · 1e38 is -inf in f32 for the keys 3 and 17.
    for (int64_t i = 0; i < tokens; ++i) {
      for (int64_t h = 0; h < kHeads; ++h) q.data<float>()[(i * kHeads + h) * kHeadDim] = 1e38F;
      k.data<float>()[i * kHeadDim] = i == 3 || i == 17 ? -1e38F : 0.0F;
    }
    const std::vector<float> y = attend(engine, {q, k, v});
    const Tensor other = v.copy(engine.pool());
    for (const int64_t key : {3, 17}) other.data<float>()[key * kHeadDim + 5] = 1000.0F;
    EXPECT_EQ(attend(engine, {q, k, other}), y);
    for (const float value : y) ASSERT_TRUE(std::isfinite(value));
  });
}

}  // namespace
}  // namespace sluice::test
