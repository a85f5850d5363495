// The matrix product for CPUs that OpenBLAS does not know, held against the scalar twin. It is tested on
// every machine, whoever multiplies there.
#include "sluice/kernels/gemm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sluice/base/random.h"
#include "sluice/kernels/blas/gemm.h"
#include "tests/kernels/instruction_sets.h"

#if defined(__x86_64__)
#include "sluice/kernels/simd_sets.h"
#endif

namespace sluice::test {
namespace {

using Floats = std::vector<float>;

Floats normal(int64_t count, uint64_t stream) {
  Floats values(static_cast<size_t>(count));
  Random(3, stream).fill_normal(values, 0, 0.0F, 1.0F);
  return values;
}

// What stands before the product in C, and around it: strides are wider than the rows.
constexpr int64_t kGap = 3;

struct Case {
  int64_t m, n, k;
  Transpose a = Transpose::No, b = Transpose::No;
  Output output = Output::Overwrite;
};

struct Operands {
  explicit Operands(const Case& wanted)
      : shape(wanted),
        a_stride((wanted.a == Transpose::Yes ? wanted.m : wanted.k) + kGap),
        b_stride((wanted.b == Transpose::Yes ? wanted.k : wanted.n) + kGap),
        c_stride(wanted.n + kGap),
        a(normal((wanted.a == Transpose::Yes ? wanted.k : wanted.m) * a_stride, 1)),
        b(normal((wanted.b == Transpose::Yes ? wanted.n : wanted.k) * b_stride, 2)),
        c(normal(wanted.m * c_stride, 3)) {}

  Gemm<float> product(Floats& to) const {
    return {.m = shape.m,
            .n = shape.n,
            .k = shape.k,
            .a = a.data(),
            .a_stride = a_stride,
            .a_transpose = shape.a,
            .b = b.data(),
            .b_stride = b_stride,
            .b_transpose = shape.b,
            .c = to.data(),
            .c_stride = c_stride,
            .output = shape.output};
  }

  Case shape;
  int64_t a_stride, b_stride, c_stride;
  Floats a, b, c;
};

using GemmKernel = void (*)(const Gemm<float>&);

// The own kernel of a set, which f32_kernels() may have replaced by OpenBLAS.
GemmKernel own_gemm([[maybe_unused]] Isa isa) {
  Kernels<float> table = f32_kernels(Isa::Scalar);
#if defined(__x86_64__)
  if (isa == Isa::Avx2) simd_avx2::fill(table);
  if (isa >= Isa::Avx512) simd_avx512::fill(table);
#endif
  return table.gemm;
}

Floats result_of(GemmKernel gemm, const Operands& operands) {
  Floats c = operands.c;
  gemm(operands.product(c));
  return c;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  // One of everything, whole blocks of every set, and sizes that leave a rest at each of its edges.
  const std::vector<Case> shapes = {{1, 1, 1},    {12, 32, 8},   {6, 16, 256},  {13, 33, 7},
                                    {5, 3, 300},  {70, 45, 19},  {264, 32, 16}, {265, 17, 65},
                                    {31, 257, 9}, {3, 520, 513}, {4, 5, 0}};
  for (const Case& shape : shapes) {
    for (const Transpose a : {Transpose::No, Transpose::Yes}) {
      for (const Transpose b : {Transpose::No, Transpose::Yes}) {
        for (const Output output : {Output::Overwrite, Output::Accumulate})
          all.push_back({shape.m, shape.n, shape.k, a, b, output});
      }
    }
  }
  return all;
}

std::string name_of(const Case& c) {
  return fmt::format("{}x{}x{} {}{} {}", c.m, c.n, c.k, c.a == Transpose::Yes ? "t" : "n",
                     c.b == Transpose::Yes ? "t" : "n", c.output == Output::Accumulate ? "added" : "written");
}

TEST(OwnGemm, agrees_with_the_scalar_twin_and_touches_nothing_else) {
  for (const Isa isa : simd_sets_of_this_machine()) {
    for (const Case& each : cases()) {
      const Operands operands(each);
      const Floats expected = result_of(f32_kernels(Isa::Scalar).gemm, operands);
      const Floats got = result_of(own_gemm(isa), operands);
      // k products of numbers about 1, each rounded once more or less.
      const float tolerance = 4e-7F * (1.0F + static_cast<float>(each.k));
      for (size_t i = 0; i < got.size(); ++i) {
        const bool outside = static_cast<int64_t>(i) % operands.c_stride >= each.n;
        ASSERT_NEAR(got[i], expected[i], outside ? 0.0F : tolerance)
            << sluice::name_of(isa) << ", " << name_of(each) << ", element " << i;
      }
    }
  }
}

TEST(OwnGemm, gives_an_element_the_same_bits_wherever_the_product_is_cut) {
  for (const Isa isa : simd_sets_of_this_machine()) {
    for (const Transpose a : {Transpose::No, Transpose::Yes}) {
      const Operands operands({.m = 40, .n = 70, .k = 300, .a = a, .b = Transpose::Yes});
      const Floats whole = result_of(own_gemm(isa), operands);
      Floats pieces = operands.c;
      for (const Range rows : {Range{0, 7}, Range{7, 40}}) {
        for (const Range cols : {Range{0, 33}, Range{33, 70}}) {
          Gemm<float> piece = operands.product(pieces);
          piece.m = rows.size();
          piece.n = cols.size();
          piece.a += a == Transpose::Yes ? rows.begin : rows.begin * piece.a_stride;
          piece.b += cols.begin * piece.b_stride;
          piece.c += rows.begin * piece.c_stride + cols.begin;
          own_gemm(isa)(piece);
        }
      }
      EXPECT_EQ(pieces, whole) << sluice::name_of(isa);
    }
  }
}

TEST(OwnGemm, carries_what_is_not_finite_to_its_row_alone) {
  for (const Isa isa : simd_sets_of_this_machine()) {
    Operands operands({.m = 14, .n = 35, .k = 9});
    operands.a[static_cast<size_t>(13 * operands.a_stride)] = NAN;  // the last row, in an incomplete group
    const Floats got = result_of(own_gemm(isa), operands);
    for (int64_t r = 0; r < 14; ++r) {
      for (int64_t c = 0; c < 35; ++c)
        EXPECT_EQ(std::isnan(got[static_cast<size_t>(r * operands.c_stride + c)]), r == 13) << r << ", " << c;
    }
  }
}

TEST(Blas, is_used_only_with_kernels_that_fit_a_cpu_with_avx2) {
  EXPECT_TRUE(blas::is_fast_core("Haswell"));
  EXPECT_TRUE(blas::is_fast_core("SkylakeX"));
  EXPECT_TRUE(blas::is_fast_core("HASWELL"));
  EXPECT_FALSE(blas::is_fast_core("Prescott"));
  EXPECT_FALSE(blas::is_fast_core(""));
  for (const Isa isa : simd_sets_of_this_machine()) {
    const GemmKernel expected = blas::is_fast_core(blas::core_name()) ? &blas::gemm : own_gemm(isa);
    EXPECT_EQ(f32_kernels(isa).gemm, expected) << sluice::name_of(isa);
  }
}

}  // namespace
}  // namespace sluice::test
