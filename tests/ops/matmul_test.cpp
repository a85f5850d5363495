#include "sluice/ops/matmul.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sluice/base/random.h"

namespace sluice {
namespace {

struct Product {
  int64_t m, n, k;
  Transpose a_transpose, b_transpose;
};

std::vector<float> normal(uint64_t stream, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  Random(5, stream).fill_normal(values, 0, 0.0F, 1.0F);
  return values;
}

float at(const std::vector<float>& matrix, int64_t stride, Transpose transpose, int64_t row, int64_t col) {
  return transpose == Transpose::Yes ? matrix[col * stride + row] : matrix[row * stride + col];
}

TEST(Matmul, multiplies_all_orientations_odd_sizes_and_strides) {
  constexpr int64_t kPadding = 3;  // rows are further apart than they are long
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1}, {5, 3, 7}, {17, 33, 15}, {257, 513, 3}}) {
    for (const auto a_transpose : {Transpose::No, Transpose::Yes}) {
      for (const auto b_transpose : {Transpose::No, Transpose::Yes}) {
        const int64_t a_stride = (a_transpose == Transpose::Yes ? m : k) + kPadding;
        const int64_t b_stride = (b_transpose == Transpose::Yes ? k : n) + kPadding;
        const int64_t c_stride = n + kPadding;
        const auto a = normal(0, a_stride * std::max(m, k));
        const auto b = normal(1, b_stride * std::max(n, k));
        const auto c_before = normal(2, c_stride * m);
        for (const Isa isa : available_isas(detect_cpu())) {
          Engine engine({.threads = 2, .isa = {.name = std::string(name_of(isa)), .source = "test"}});
          for (const auto output : {Output::Overwrite, Output::Accumulate}) {
            auto c = c_before;
            matmul<float>({engine}, {.m = m,
                                     .n = n,
                                     .k = k,
                                     .a = a.data(),
                                     .a_stride = a_stride,
                                     .a_transpose = a_transpose,
                                     .b = b.data(),
                                     .b_stride = b_stride,
                                     .b_transpose = b_transpose,
                                     .c = c.data(),
                                     .c_stride = c_stride,
                                     .output = output});
            for (int64_t row = 0; row < m; ++row) {
              for (int64_t col = 0; col < c_stride; ++col) {
                const size_t index = row * c_stride + col;
                double expected = c_before[index];
                if (col < n) {
                  if (output == Output::Overwrite) expected = 0;
                  for (int64_t i = 0; i < k; ++i) {
                    expected +=
                        double{at(a, a_stride, a_transpose, row, i)} * at(b, b_stride, b_transpose, i, col);
                  }
                }
                ASSERT_NEAR(c[index], expected, 1e-6 * (8 + k))
                    << name_of(isa) << " at " << row << ", " << col;
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace sluice
