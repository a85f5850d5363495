// Layers that share or skip passes over memory, against the same layers one after another.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "sluice/ops/arithmetic.h"
#include "sluice/ops/convert.h"
#include "sluice/ops/mlp.h"
#include "sluice/ops/swiglu.h"
#include "tests/ops/every_set.h"
#include "tests/ops/random_tensor.h"

namespace sluice::test {
namespace {

std::vector<float> values(const Tensor& tensor) {
  const auto all = tensor.values<float>();
  return {all.begin(), all.end()};
}

// Rounded to bf16 by the context, or stored so.
enum class Narrow { Operands, Weights };

// [24, 37] and [37, 24], with which an input of 37 columns goes there and back.
struct Weights {
  Tensor gate, up, down;
};

Weights weights_of(const Context& context, Narrow narrow) {
  const auto made = [&](const Shape& shape, uint64_t stream) {
    const Tensor f32 = normal(context, shape, stream);
    return narrow == Narrow::Weights ? convert(context, f32, DType::BF16) : f32;
  };
  return {made({24, 37}, 1), made({24, 37}, 2), made({37, 24}, 3)};
}

void with_every_kind(const std::function<void(const Context&, Narrow)>& body) {
  with_every_set([&](Engine& engine) {
    body({engine, nullptr, nullptr, Precision::Bf16}, Narrow::Operands);
    body({engine}, Narrow::Weights);
  });
}

TEST(FusedLinear, adds_a_residual_to_the_same_bits_as_an_addition_afterwards) {
  with_every_kind([](const Context& context, Narrow narrow) {
    const Weights w = weights_of(context, narrow);
    const Var bias(normal(context, {24}, 9));
    for (const int64_t rows : {0, 4, 33}) {
      const Var x(normal(context, {rows, 37}, 7)), residual(normal(context, {rows, 24}, 8));
      for (const LinearWeights& layer : {LinearWeights{Var(w.gate)}, LinearWeights{Var(w.gate), bias}}) {
        const Var apart = add(context, residual, linear(context, x, layer));
        EXPECT_EQ(values(add_linear(context, residual, x, layer).value()), values(apart.value())) << rows;
      }
    }
  });
}

TEST(FusedLinear, computes_a_feed_forward_block_with_the_bits_of_its_parts) {
  with_every_kind([](const Context& context, Narrow narrow) {
    const Weights w = weights_of(context, narrow);
    const MlpWeights block{{Var(w.gate)}, {Var(w.up)}, {Var(w.down)}};
    for (const int64_t rows : {0, 1, 4, 15, 33}) {
      const Var x(normal(context, {rows, 37}, 7));
      const Var h = swiglu(context, linear(context, x, block.gate), linear(context, x, block.up));
      const Var y = linear(context, h, block.down);
      EXPECT_EQ(values(mlp(context, x, block).value()), values(y.value())) << rows << " rows";
      if (rows < kFewRows) continue;  // few rows start their sums from the residual
      EXPECT_EQ(values(mlp(context, x, block, x).value()), values(add(context, x, y).value()))
          << rows << " rows and a residual";
    }
  });
}

struct ThreeGradients {
  std::vector<float> x, first, second;
  bool operator==(const ThreeGradients&) const = default;
};

// Gradients of the mean of first(x) + second(x), where `layers` computes both.
using TwoLayers =
    std::function<std::vector<Var>(const Context&, const Var&, const std::vector<LinearWeights>&)>;

ThreeGradients gradients(const Context& outer, const TwoLayers& layers) {
  Tape tape;
  const Context context = outer.with_tape(&tape);
  const Var x = tape.leaf(normal(context, {33, 37}, 7));
  Parameter first{.name = "first", .value = normal(context, {24, 37}, 1)};
  Parameter second{.name = "second", .value = normal(context, {24, 37}, 2)};
  const std::vector<Var> ys = layers(context, x, {{use(context, first)}, {use(context, second)}});
  tape.backward(context, mean(context, add(context, ys[0], swiglu(context, ys[1], ys[1]))));
  return {values(tape.gradient(x)), values(first.grad), values(second.grad)};
}

TEST(FusedLinear, gives_layers_that_share_an_input_the_gradients_of_separate_ones) {
  with_every_set([](Engine& engine) {
    for (const Precision precision : {Precision::F32, Precision::Bf16}) {
      const Context context{engine, nullptr, nullptr, precision};
      const ThreeGradients shared = gradients(
          context, [](const auto& c, const auto& x, const auto& layers) { return linears(c, x, layers); });
      const ThreeGradients apart = gradients(context, [](const auto& c, const auto& x, const auto& layers) {
        return std::vector<Var>{linear(c, x, layers[0]), linear(c, x, layers[1])};
      });
      EXPECT_TRUE(shared == apart) << (precision == Precision::F32 ? "f32" : "bf16");
      EXPECT_NE(shared.x, std::vector<float>(shared.x.size(), 0.0F)) << "there is a gradient at all";
    }
  });
}

TEST(KeptPacking, changes_no_bit_of_a_product_of_many_rows) {
  with_every_kind([](const Context& context, Narrow narrow) {
    const Weights w = weights_of(context, narrow);
    const Var x(normal(context, {33, 37}, 7));
    const Weight weight{Var(w.gate)};
    const Context keeping = context.with_packing(Packing::Keep);
    const std::vector<float> once = values(linear(keeping, x, {weight}).value());
    const std::vector<float> again = values(linear(keeping, x, {weight}).value());
    EXPECT_TRUE(weight.packed_if_kept(Transpose::Yes).tiles.defined());
    EXPECT_FALSE(weight.packed_if_kept(Transpose::No).tiles.defined()) << "nobody asked for it";
    EXPECT_EQ(once, values(linear(context, x, {Var(w.gate)}).value()));
    EXPECT_EQ(again, once);
  });
}

TEST(KeptPacking, is_used_by_few_rows_to_the_accuracy_of_f32) {
  with_every_set([](Engine& engine) {
    const Context context{engine};
    for (const int64_t width : {1, 2, 31, 32, 33, 300}) {
      for (const int64_t outputs : {1, 15, 16, 17, 100}) {
        const Tensor weight = convert(context, normal(context, {outputs, width}, 1), DType::BF16);
        const Context keeping = context.with_packing(Packing::Keep);
        const Weight packed{Var(weight)};
        packed.packed(keeping, Transpose::Yes);
        for (const int64_t rows : {1, 2, 3}) {
          const Var x(normal(context, {rows, width}, 2)), bias(normal(context, {outputs}, 3));
          const auto expected = values(linear(context, x, {Var(weight), bias}).value());
          const auto got = values(linear(keeping, x, {packed, bias}).value());
          ASSERT_EQ(got.size(), expected.size());
          for (size_t i = 0; i < got.size(); ++i)
            ASSERT_NEAR(got[i], expected[i], 1e-5 * std::sqrt(static_cast<double>(width)))
                << rows << "x" << outputs << "x" << width << " at " << i;
        }
      }
    }
  });
}

TEST(KeptPacking, follows_a_parameter_whose_value_is_replaced_or_changed) {
  Engine engine;
  const Context keeping{.engine = engine, .precision = Precision::Bf16, .packing = Packing::Keep};
  const Context once = keeping.with_packing(Packing::Once);
  Parameter parameter{.name = "w", .value = normal(once, {24, 37}, 1)};
  const Var x(normal(once, {33, 37}, 7));
  const auto got = [&](const Context& context) {
    return values(linear(context, x, {weight_of(context, parameter)}).value());
  };
  EXPECT_EQ(got(keeping), got(once));
  parameter.value = normal(once, {24, 37}, 2);
  EXPECT_EQ(got(keeping), got(once)) << "another tensor";
  parameter.value.data<float>()[5] = 3.0F;
  parameter.drop_packed();
  EXPECT_EQ(got(keeping), got(once)) << "changed in place";
}

}  // namespace
}  // namespace sluice::test
