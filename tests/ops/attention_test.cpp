#include "sluice/ops/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "sluice/base/random.h"

namespace sluice {
namespace {

// Shapes: 3 query heads share 1 key/value head of 5 channels.
constexpr int64_t kHeads = 3, kHeadDim = 5;

Tensor normal(Engine& engine, int64_t rows, int64_t cols, uint64_t stream) {
  Tensor tensor = Tensor::empty(engine.pool(), {rows, cols}, DType::F32);
  Random(21, stream).fill_normal(tensor.values<float>(), 0, 0.0F, 1.0F);
  return tensor;
}

Tensor last_rows(Engine& engine, const Tensor& tensor, int64_t count) {
  const auto values = tensor.values<float>().last(static_cast<size_t>(count * tensor.cols()));
  return Tensor::from<float>(engine.pool(), {count, tensor.cols()}, values);
}

class Attention : public testing::TestWithParam<std::string> {
 protected:
  Engine engine_{{.isa = {.name = GetParam(), .source = "test"}}};
  Context context_{engine_};
};

TEST_P(Attention, of_new_queries_after_a_past_equals_that_of_the_whole) {
  for (const auto& [past, fresh] : {std::pair{1, 1}, {7, 1}, {3, 70}, {130, 2}, {130, 100}, {0, 9}}) {
    const int64_t tokens = past + fresh;
    const Var q(normal(engine_, tokens, kHeads * kHeadDim, 0));
    const Var k(normal(engine_, tokens, kHeadDim, 1));
    const Var v(normal(engine_, tokens, kHeadDim, 2));
    const Var whole =
        attention(context_, {q, k, v}, Sequences::equal(1, tokens), {.heads = kHeads, .kv_heads = 1});
    const Var new_q(last_rows(engine_, q.value(), fresh));
    const Var part = attention(context_, {new_q, k, v}, Sequences::equal(1, fresh),
                               {.heads = kHeads, .kv_heads = 1, .past = past});
    const Tensor expected = last_rows(engine_, whole.value(), fresh);
    for (int64_t i = 0; i < expected.count(); ++i) {
      ASSERT_NEAR(part.value().data<float>()[i], expected.data<float>()[i], 1e-6) << past << " + " << fresh;
    }
  }
}

TEST_P(Attention, captures_probabilities_that_sum_to_one_and_look_back_only) {
  const Sequences sequences = Sequences::of_lengths({4, 67});
  const Var q(normal(engine_, sequences.tokens(), kHeads * kHeadDim, 0));
  const Var kv(normal(engine_, sequences.tokens(), kHeadDim, 1));
  std::vector<Tensor> probs;
  attention(context_, {q, kv, kv}, sequences, {.heads = kHeads, .kv_heads = 1, .capture_probs = &probs});
  ASSERT_EQ(probs.size(), 2U);
  for (int64_t s = 0; s < 2; ++s) {
    const int64_t length = sequences.length(s);
    ASSERT_EQ(probs[s].shape(), (Shape{kHeads, length, length}));
    for (int64_t row = 0; row < kHeads * length; ++row) {
      const float* p = probs[s].data<float>() + row * length;
      float sum = 0;
      for (int64_t j = 0; j < length; ++j) {
        sum += p[j];
        if (j > row % length) {
          ASSERT_EQ(p[j], 0.0F) << "a look ahead";
        }
      }
      ASSERT_NEAR(sum, 1.0F, 1e-5F);
    }
  }
}

// The entropy of a row, computed from its probabilities in f64.
double entropy_of(const float* p, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum -= p[i] > 0 ? p[i] * std::log(static_cast<double>(p[i])) : 0.0;
  return sum;
}

TEST_P(Attention, captures_sink_and_entropy_as_the_probabilities_have_them) {
  const Sequences sequences = Sequences::of_lengths({3, 67, 270});
  const Var q(normal(engine_, sequences.tokens(), kHeads * kHeadDim, 0));
  const Var kv(normal(engine_, sequences.tokens(), kHeadDim, 1));
  for (const Precision precision : {Precision::F32, Precision::Bf16}) {
    std::vector<Tensor> probs;
    Tensor sink, entropy;
    // The scale makes some rows sharp and moves their largest score from block to block.
    attention(context_, {q, kv, kv}, sequences,
              {.heads = kHeads,
               .kv_heads = 1,
               .scale = 2.0,
               .weights = precision,
               .capture_probs = &probs,
               .capture_sink = &sink,
               .capture_entropy = &entropy});
    ASSERT_EQ(sink.shape(), (Shape{sequences.tokens(), kHeads}));
    for (int64_t s = 0; s < sequences.count(); ++s) {
      const int64_t length = sequences.length(s);
      for (int64_t row = 0; row < kHeads * length; ++row) {
        const float* p = probs[s].data<float>() + row * length;
        const int64_t at = (sequences.starts()[s] + row % length) * kHeads + row / length;
        ASSERT_NEAR(std::accumulate(p, p + length, 0.0), 1.0, 1e-5) << "sequence " << s << ", row " << row;
        ASSERT_NEAR(sink.data<float>()[at], p[0], 1e-5) << "sequence " << s << ", row " << row;
        ASSERT_NEAR(entropy.data<float>()[at], entropy_of(p, length), 1e-4)
            << "sequence " << s << ", row " << row;
      }
    }
  }
}

// Not even as 0 · NaN.
TEST_P(Attention, does_not_let_earlier_queries_see_a_later_value) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const int64_t tokens : {5, 70, 250}) {
    const Var q(normal(engine_, tokens, kHeads * kHeadDim, 0));
    const Tensor clean = normal(engine_, tokens, kHeadDim, 1);
    const AttentionOptions options{.heads = kHeads, .kv_heads = 1};
    const Sequences sequences = Sequences::equal(1, tokens);
    const Var expected = attention(context_, {q, Var(clean), Var(clean)}, sequences, options);
    for (const int64_t poisoned : {tokens / 2, tokens - 1}) {
      const Tensor kv = clean.copy(engine_.pool());
      kv.data<float>()[poisoned * kHeadDim] = kNan;
      const Var y = attention(context_, {q, Var(kv), Var(kv)}, sequences, options);
      const int64_t width = kHeads * kHeadDim;
      for (int64_t i = 0; i < poisoned * width; ++i)
        ASSERT_EQ(y.value().data<float>()[i], expected.value().data<float>()[i])
            << tokens << " tokens, " << i;
      EXPECT_TRUE(std::isnan(y.value().data<float>()[poisoned * width])) << tokens << " tokens";
    }
  }
}

TEST_P(Attention, does_not_let_the_gradient_of_earlier_queries_see_a_later_key) {
  constexpr int64_t kTokens = 70, kPoisoned = 41;
  const Sequences sequences = Sequences::equal(1, kTokens);
  const Tensor q = normal(engine_, kTokens, kHeads * kHeadDim, 0), v = normal(engine_, kTokens, kHeadDim, 2),
               dy = normal(engine_, kTokens, kHeads * kHeadDim, 3);
  const auto gradient = [&](const Tensor& k, Precision precision) {
    Tape tape;
    const AttentionInputs inputs{tape.leaf(q), Var(k), Var(v)};
    const Var y = attention(context_.with_tape(&tape), inputs, sequences,
                            {.heads = kHeads, .kv_heads = 1, .weights = precision});
    tape.backward(context_, y, dy);
    return tape.gradient(inputs.q);
  };
  const Tensor clean = normal(engine_, kTokens, kHeadDim, 1);
  const Tensor odd = clean.copy(engine_.pool());
  odd.data<float>()[kPoisoned * kHeadDim] = std::numeric_limits<float>::quiet_NaN();
  for (const Precision precision : {Precision::F32, Precision::Bf16}) {
    const Tensor expected = gradient(clean, precision), got = gradient(odd, precision);
    const int64_t seen = kPoisoned * kHeads * kHeadDim;
    for (int64_t i = 0; i < seen; ++i) ASSERT_EQ(got.data<float>()[i], expected.data<float>()[i]) << i;
    EXPECT_TRUE(std::isnan(got.data<float>()[seen]));
  }
}

TEST_P(Attention, refuses_shapes_that_do_not_fit) {
  const Var q(normal(engine_, 4, kHeads * kHeadDim, 0));
  const Var kv(normal(engine_, 4, kHeadDim, 1));
  const Var short_kv(normal(engine_, 3, kHeadDim, 1));
  const Sequences four = Sequences::equal(1, 4);
  EXPECT_THROW(attention(context_, {q, kv, kv}, four, {.heads = 2, .kv_heads = 1}), AssertionError);
  EXPECT_THROW(attention(context_, {q, kv, kv}, four, {.heads = 3, .kv_heads = 2}), AssertionError);
  EXPECT_THROW(attention(context_, {q, short_kv, kv}, four, {.heads = 3, .kv_heads = 1}), AssertionError);
  EXPECT_THROW(attention(context_, {q, kv, kv}, Sequences::equal(2, 4), {.heads = 3, .kv_heads = 1}),
               AssertionError);
}

INSTANTIATE_TEST_SUITE_P(EveryIsa, Attention, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const Isa isa : available_isas(detect_cpu()))
                             names.emplace_back(name_of(isa));
                           return names;
                         }()));

}  // namespace
}  // namespace sluice
