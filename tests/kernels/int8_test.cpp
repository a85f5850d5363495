// Products in int8: every instruction set gives the bits of the scalar twin, and the twin is what the header
// says.
#include "sluice/kernels/int8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sluice/base/random.h"
#include "tests/kernels/instruction_sets.h"

namespace sluice::test {
namespace {

using Floats = std::vector<float>;

// Normal numbers; with `stream` other ones.
Floats normal(int64_t count, uint64_t stream) {
  Floats values(static_cast<size_t>(count));
  Random(11, stream).fill_normal(values, 0, 0.0F, 1.0F);
  return values;
}

struct Quantized {
  std::vector<int8_t> q;
  Floats scales;
  std::vector<int32_t> sums;

  bool operator==(const Quantized&) const = default;
  QuantizedRows<float> rows() const { return {q.data(), scales.data(), sums.data()}; }
};

Quantized quantized(Isa isa, const Floats& x, int64_t k) {
  const int64_t rows = static_cast<int64_t>(x.size()) / k;
  Quantized made{std::vector<int8_t>(static_cast<size_t>(rows * int8_words(k) * kInt8Word), 99),
                 Floats(static_cast<size_t>(rows * int8_groups(k))),
                 std::vector<int32_t>(static_cast<size_t>(rows * int8_groups(k)))};
  f32_kernels(isa).quantize_rows(
      {.k = k, .x = x.data(), .q = made.q.data(), .scales = made.scales.data(), .sums = made.sums.data()},
      {0, rows});
  return made;
}

TEST(QuantizeRows, gives_the_bits_of_the_scalar_twin_on_every_set) {
  for (const int64_t k : {1, 3, 4, 7, 16, 31, 127, 128, 129, 255, 256, 300}) {
    Floats x = normal(3 * k, 1);
    std::fill_n(x.begin(), std::min<int64_t>(k, kInt8Group), 0.0F);  // a group without a largest magnitude
    const Quantized expected = quantized(Isa::Scalar, x, k);
    for (const Isa isa : simd_sets_of_this_machine())
      EXPECT_EQ(quantized(isa, x, k), expected) << name_of(isa) << ", " << k << " columns";
  }
}

TEST(QuantizeRows, is_within_half_a_step_and_reaches_both_ends) {
  for (const Isa isa : sets_of_this_machine()) {
    const int64_t k = 300;
    Floats x = normal(k, 2);
    x[5] = -9.0F;
    x[200] = 8.0F;
    const Quantized made = quantized(isa, x, k);
    EXPECT_EQ(made.q[5], -127) << name_of(isa);
    EXPECT_EQ(made.q[200], 127) << name_of(isa);
    for (int64_t i = 0; i < k; ++i) {
      const float scale = made.scales[static_cast<size_t>(i / kInt8Group)];
      EXPECT_NEAR(x[static_cast<size_t>(i)], scale * static_cast<float>(made.q[static_cast<size_t>(i)]),
                  scale * 0.5001F)
          << name_of(isa) << ", element " << i;
    }
    const auto ends = made.q.begin() + kInt8Group;
    EXPECT_EQ(made.sums[0], std::accumulate(made.q.begin(), ends, 0)) << name_of(isa);
  }
}

TEST(QuantizeRows, keeps_what_is_not_finite_out_of_the_integers) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    for (const Isa isa : sets_of_this_machine()) {
      Floats x = normal(2 * kInt8Group, 3);
      x[17] = bad;
      const Quantized made = quantized(isa, x, std::ssize(x));
      EXPECT_TRUE(std::isnan(made.scales[0])) << name_of(isa);
      EXPECT_TRUE(std::isfinite(made.scales[1])) << name_of(isa);
      EXPECT_TRUE(std::all_of(made.q.begin(), made.q.begin() + kInt8Group, [](int8_t q) { return q == 0; }))
          << name_of(isa);
    }
  }
}

TEST(QuantizeRows, makes_zeros_of_what_is_too_small_to_divide_by) {
  for (const Isa isa : sets_of_this_machine()) {
    const Quantized made = quantized(isa, {1e-38F, -1e-40F, 1e-31F}, 3);
    EXPECT_EQ(made, (Quantized{{0, 0, 0, 0}, {0.0F}, {0}})) << name_of(isa);
  }
}

// Random int8 in the packed layout, each of its blocks full: what lies behind the ends is never written out.
struct Weight {
  std::vector<int8_t> values;
  Floats scales;
};

Weight random_weight(int64_t outputs, int64_t k) {
  const int64_t blocks = int8_blocks(outputs);
  Weight weight{std::vector<int8_t>(static_cast<size_t>(blocks * int8_words(k) * kInt8Outputs * kInt8Word)),
                normal(blocks * int8_groups(k) * kInt8Outputs, 4)};
  for (size_t i = 0; i < weight.values.size(); ++i)
    weight.values[i] = static_cast<int8_t>(static_cast<int64_t>(Random(12).below(i, 255)) - 127);
  return weight;
}

struct Sizes {
  int64_t rows, outputs, k;
};

Floats product(Isa isa, const Sizes& sizes, const Quantized& x, const Weight& weight, Output output) {
  const int64_t stride = sizes.outputs + 3;
  Floats y = normal(sizes.rows * stride, 5);
  f32_kernels(isa).int8_rows({.rows = sizes.rows,
                              .k = sizes.k,
                              .outputs = sizes.outputs,
                              .x = x.rows(),
                              .weight = weight.values.data(),
                              .weight_scales = weight.scales.data(),
                              .y = y.data(),
                              .y_stride = stride,
                              .output = output},
                             {0, int8_blocks(sizes.outputs)});
  return y;
}

TEST(Int8Rows, give_the_bits_of_the_scalar_twin_on_every_set) {
  for (const int64_t rows : {0, 1, 2, 3, 5, 8, 15}) {
    for (const int64_t outputs : {1, 15, 16, 17, 33}) {
      for (const int64_t k : {1, 3, 4, 5, 127, 128, 130, 300}) {
        const Sizes sizes{rows, outputs, k};
        const Quantized x = quantized(Isa::Scalar, normal(rows * k, 6), k);
        const Weight weight = random_weight(outputs, k);
        for (const Output output : {Output::Overwrite, Output::Accumulate}) {
          const Floats expected = product(Isa::Scalar, sizes, x, weight, output);
          for (const Isa isa : simd_sets_of_this_machine()) {
            ASSERT_EQ(product(isa, sizes, x, weight, output), expected)
                << name_of(isa) << ": " << rows << " x " << outputs << " x " << k;
          }
        }
      }
    }
  }
}

// Sums of 16 bits on the way would saturate here.
TEST(Int8Rows, hold_the_largest_sums) {
  const Sizes sizes{.rows = 1, .outputs = 16, .k = 256};
  for (const int sign : {1, -1}) {
    Weight weight = random_weight(sizes.outputs, sizes.k);
    std::ranges::fill(weight.values, static_cast<int8_t>(127 * sign));
    std::ranges::fill(weight.scales, 1.0F);
    const Quantized x = quantized(Isa::Scalar, Floats(256, -127.0F), sizes.k);
    for (const Isa isa : sets_of_this_machine()) {
      EXPECT_EQ(product(isa, sizes, x, weight, Output::Overwrite)[0],
                static_cast<float>(-127 * 127 * 256 * sign))
          << name_of(isa);
    }
  }
}

TEST(Int8Rows, carry_a_nan_to_every_output_of_its_row_and_to_no_other) {
  const Sizes sizes{.rows = 2, .outputs = 17, .k = 130};
  Floats x = normal(sizes.rows * sizes.k, 7);
  x[3] = std::numeric_limits<float>::quiet_NaN();
  const Weight weight = random_weight(sizes.outputs, sizes.k);
  for (const Isa isa : sets_of_this_machine()) {
    const Floats y = product(isa, sizes, quantized(isa, x, sizes.k), weight, Output::Overwrite);
    for (int64_t o = 0; o < sizes.outputs; ++o) {
      EXPECT_TRUE(std::isnan(y[static_cast<size_t>(o)])) << name_of(isa);
      EXPECT_TRUE(std::isfinite(y[static_cast<size_t>(sizes.outputs + 3 + o)])) << name_of(isa);
    }
  }
}

}  // namespace
}  // namespace sluice::test
