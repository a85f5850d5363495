#include <gtest/gtest.h>

#include "sluice/ops/arithmetic.h"
#include "sluice/ops/linear.h"
#include "sluice/ops/swiglu.h"

namespace sluice {
namespace {

class TapeTest : public testing::Test {
 protected:
  Tensor tensor(const std::vector<float>& values) {
    return Tensor::from<float>(engine_.pool(), {static_cast<int64_t>(values.size())}, values);
  }

  static std::vector<float> floats(const Tensor& tensor) {
    const auto values = tensor.values<float>();
    return {values.begin(), values.end()};
  }

  Engine engine_;
};

TEST_F(TapeTest, adds_the_gradients_of_a_value_used_twice) {
  Tape tape;
  const Context context{engine_, &tape};
  const Var x = tape.leaf(tensor({1, 2}));
  const Var y = add(context, scale(context, x, 3), scale(context, x, 4));
  tape.backward(context, y, tensor({1, 10}));
  EXPECT_EQ(floats(tape.gradient(x)), (std::vector<float>{7, 70}));
}

TEST_F(TapeTest, never_writes_into_a_gradient_that_two_values_share) {
  Tape tape;
  const Context context{engine_, &tape};
  const Var x = tape.leaf(tensor({1}));
  const Var y = tape.leaf(tensor({2}));
  // add hands the same gradient to x and y; a second use of x must not change y's.
  const Var total = add(context, add(context, x, y), scale(context, x, 5));
  tape.backward(context, total, tensor({1}));
  EXPECT_EQ(floats(tape.gradient(x)), std::vector<float>{6});
  EXPECT_EQ(floats(tape.gradient(y)), std::vector<float>{1});
}

TEST_F(TapeTest, leaves_the_callers_seed_alone) {
  Tape tape;
  const Context context{engine_, &tape};
  const Tensor seed = tensor({1});
  const Var x = tape.leaf(tensor({1}));
  tape.backward(context, add(context, x, add(context, x, x)), seed);
  EXPECT_EQ(floats(tape.gradient(x)), std::vector<float>{3});
  EXPECT_EQ(floats(seed), std::vector<float>{1});
}

TEST_F(TapeTest, accumulates_parameter_gradients_over_backward_passes) {
  Parameter weight{.name = "w", .value = tensor({1, 1})};
  for (int pass = 1; pass <= 3; ++pass) {
    Tape tape;
    const Context context{engine_, &tape};
    tape.backward(context, scale(context, use(context, weight), 2), tensor({1, 2}));
    EXPECT_EQ(floats(weight.grad), (std::vector<float>{2.0F * pass, 4.0F * pass}));
  }
}

TEST_F(TapeTest, accumulates_products_over_backward_passes) {
  Parameter weight{.name = "w", .value = tensor({3, 4}).reshaped({1, 2})};
  const Tensor x = tensor({10, 20}).reshaped({1, 2});
  for (int pass = 1; pass <= 2; ++pass) {
    Tape tape;
    const Context context{engine_, &tape};
    tape.backward(context, linear(context, Var(x), {use(context, weight)}));
    EXPECT_EQ(floats(weight.grad), (std::vector<float>{10.0F * pass, 20.0F * pass}));
  }
}

TEST_F(TapeTest, gives_no_gradient_to_what_the_output_does_not_depend_on) {
  Tape tape;
  const Context context{engine_, &tape};
  const Var used = tape.leaf(tensor({1}));
  const Var unused = tape.leaf(tensor({1}));
  scale(context, unused, 2);
  tape.backward(context, scale(context, used, 2));
  EXPECT_TRUE(tape.gradient(used).defined());
  EXPECT_FALSE(tape.gradient(unused).defined());
}

TEST_F(TapeTest, records_nothing_for_constants_and_without_a_tape) {
  Tape tape;
  const Context context{engine_, &tape};
  EXPECT_FALSE(scale(context, Var(tensor({1})), 2).wants_gradient());
  Parameter weight{.name = "w", .value = tensor({1})};
  const Context inference{engine_};
  EXPECT_FALSE(scale(inference, use(inference, weight), 2).wants_gradient());
}

TEST_F(TapeTest, frees_activations_while_it_is_played) {
  constexpr int kDepth = 20;
  constexpr int64_t kBytes = 1 << 20;
  MemoryPool& pool = engine_.pool();
  const size_t before = pool.stats().in_use;
  Tape tape;
  const Context context{engine_, &tape};
  const Tensor start = context.zeros({kBytes / 4}, DType::F32);
  Var x = tape.leaf(start);
  for (int i = 0; i < kDepth; ++i) x = swiglu(context, x, x);
  const size_t recorded = pool.stats().in_use - before;
  EXPECT_GE(recorded, size_t{kDepth} * kBytes);
  pool.reset_high_water();
  tape.backward(context, x, start);
  // Two gradients and their sum on top of what was there; a tape that kept all would need as much again.
  EXPECT_LE(pool.stats().high_water - before, recorded + size_t{4} * kBytes);
  x = Var();
  EXPECT_LE(pool.stats().in_use - before, size_t{2} * kBytes);  // the leaf and its gradient
}

TEST_F(TapeTest, refuses_misuse) {
  Tape tape;
  Tape other;
  const Context context{engine_, &tape};
  const Var x = tape.leaf(tensor({1, 2}));
  EXPECT_THROW(tape.backward(context, x), AssertionError) << "not a scalar";
  EXPECT_THROW(tape.backward(context, x, tensor({1})), AssertionError) << "seed of another shape";
  EXPECT_THROW(other.backward(context, x, tensor({1, 2})), AssertionError) << "value of another tape";
  tape.backward(context, x, tensor({1, 2}));
  EXPECT_THROW(tape.backward(context, x, tensor({1, 2})), AssertionError) << "played twice";
}

}  // namespace
}  // namespace sluice
