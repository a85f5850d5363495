#include "sluice/ops/recompute.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sluice/base/random.h"
#include "sluice/ops/arithmetic.h"
#include "sluice/ops/linear.h"
#include "sluice/ops/swiglu.h"

namespace sluice {
namespace {

// A chain of blocks, each of which makes several intermediates as large as its input.
constexpr int64_t kRows = 64, kWidth = 64;
constexpr int kDepth = 12;

struct Outcome {
  std::vector<float> input_gradient, weight_gradient;
  size_t high_water;
};

Outcome run(Activations activations) {
  Engine engine;
  Parameter weight{.name = "w", .value = Tensor::empty(engine.pool(), {kWidth, kWidth}, DType::F32)};
  Random(1).fill_normal(weight.value.values<float>(), 0, 0.0F, 0.05F);
  Tape tape;
  const Context context{.engine = engine, .tape = &tape, .activations = activations};
  const Tensor start = context.empty({kRows, kWidth}, DType::F32);
  Random(2).fill_normal(start.values<float>(), 0, 0.0F, 1.0F);
  const Var input = tape.leaf(start);
  Var x = input;
  for (int i = 0; i < kDepth; ++i) {
    const auto block = [&](const Context& inner, const std::vector<Var>& in) {
      Var y = in[0];
      for (int j = 0; j < 4; ++j) y = swiglu(inner, linear(inner, y, {use(inner, weight)}), y);
      return std::vector<Var>{y};
    };
    x = run_block(context, {x}, block)[0];
  }
  tape.backward(context, x, start);
  const auto dx = tape.gradient(input).values<float>();
  const auto dw = weight.grad.values<float>();
  return {{dx.begin(), dx.end()}, {dw.begin(), dw.end()}, engine.pool().stats().high_water};
}

TEST(Recompute, gives_the_same_gradients_from_less_memory) {
  const Outcome kept = run(Activations::Keep);
  const Outcome recomputed = run(Activations::Recompute);
  ASSERT_FALSE(std::isnan(kept.input_gradient[0]));
  EXPECT_EQ(recomputed.input_gradient, kept.input_gradient);
  EXPECT_EQ(recomputed.weight_gradient, kept.weight_gradient);
  // Eight intermediates per block against one, and one block's worth while it is replayed.
  EXPECT_LT(recomputed.high_water, kept.high_water / 2);
}

TEST(Recompute, runs_a_block_once_where_no_gradient_is_wanted) {
  Engine engine;
  int calls = 0;
  const Context inference{.engine = engine, .activations = Activations::Recompute};
  run_block(inference, {Var(inference.zeros({1}, DType::F32))},
            [&](const Context&, const std::vector<Var>& in) {
              ++calls;
              return in;
            });
  EXPECT_EQ(calls, 1);
}

// Two results of one block: the sum of squares of x, and x scaled. Gradients of x for a loss of both, of one.
std::vector<float> gradient_of_two(Activations activations, std::pair<bool, bool> used) {
  Engine engine;
  Tape tape;
  const Context context{.engine = engine, .tape = &tape, .activations = activations};
  const Tensor start = context.empty({kRows, kWidth}, DType::F32);
  Random(2).fill_normal(start.values<float>(), 0, 0.0F, 1.0F);
  const Var input = tape.leaf(start);
  const auto block = [](const Context& inner, const std::vector<Var>& in) {
    const Var squared = swiglu(inner, in[0], in[0]);
    return std::vector<Var>{add(inner, in[0], squared), Var(), swiglu(inner, squared, in[0])};
  };
  const std::vector<Var> results = run_block(context, {input}, block);
  EXPECT_FALSE(results[1].value().defined());
  const Var loss = used.first && used.second ? add(context, results[0], results[2])
                   : used.first              ? results[0]
                                             : results[2];
  tape.backward(context, loss, start);
  const auto dx = tape.gradient(input).values<float>();
  return {dx.begin(), dx.end()};
}

TEST(Recompute, takes_blocks_of_several_results) {
  for (const auto& used : {std::pair{true, true}, std::pair{true, false}, std::pair{false, true}}) {
    const std::vector<float> kept = gradient_of_two(Activations::Keep, used);
    EXPECT_EQ(gradient_of_two(Activations::Recompute, used), kept) << used.first << used.second;
    EXPECT_NE(kept, std::vector<float>(kept.size(), 0.0F));
  }
}

}  // namespace
}  // namespace sluice
