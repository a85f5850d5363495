// The bf16 product in every orientation, against plain loops in f64.
#include "sluice/ops/bf16_matmul.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sluice/base/random.h"
#include "sluice/ops/convert.h"
#include "tests/kernels/instruction_sets.h"

namespace sluice::test {
namespace {

struct Case {
  int64_t m, n, k;
  Transpose a = Transpose::No, b = Transpose::No;
  DType dtype = DType::F32;  // of both operands
  Output output = Output::Overwrite;

  std::string text() const {
    return fmt::format("{}x{}x{}{}{}{}{}", m, n, k, a == Transpose::Yes ? " aT" : "",
                       b == Transpose::Yes ? " bT" : "", dtype == DType::BF16 ? " bf16" : "",
                       output == Output::Accumulate ? " added" : "");
  }
};

Tensor operand(const Context& context, int64_t rows, int64_t cols, DType dtype, uint64_t stream) {
  const Tensor values = context.empty({rows, cols}, DType::F32);
  Random(11, stream).fill_normal(values.values<float>(), 0, 0.0F, 1.0F);
  return dtype == DType::F32 ? values : convert(context, values, dtype);
}

double element(const Tensor& x, int64_t row, int64_t col, Transpose transpose) {
  const int64_t at = transpose == Transpose::No ? row * x.cols() + col : col * x.cols() + row;
  return x.dtype() == DType::BF16 ? to_float(x.data<Bf16>()[at]) : to_float(to_bf16(x.data<float>()[at]));
}

constexpr float kOld = 3.0F;  // what C holds before

std::vector<float> product_of(const Context& context, const Case& test, const Tensor& a, const Tensor& b) {
  std::vector<float> c(static_cast<size_t>(test.m * test.n), kOld);
  const auto stored = [](const Tensor& x, Transpose transpose) {
    const bool narrow = x.dtype() == DType::BF16;
    return Bf16Operand{.f32 = narrow ? nullptr : x.data<float>(),
                       .bf16 = narrow ? x.data<Bf16>() : nullptr,
                       .stride = x.cols(),
                       .transpose = transpose};
  };
  bf16_matmul(context, {.m = test.m,
                        .n = test.n,
                        .k = test.k,
                        .a = stored(a, test.a),
                        .b = stored(b, test.b),
                        .c = c.data(),
                        .c_stride = test.n,
                        .output = test.output});
  return c;
}

void expect_product(const Context& context, const Case& test, const std::string& set) {
  const bool turned_a = test.a == Transpose::Yes, turned_b = test.b == Transpose::Yes;
  const Tensor a = operand(context, turned_a ? test.k : test.m, turned_a ? test.m : test.k, test.dtype, 1);
  const Tensor b = operand(context, turned_b ? test.n : test.k, turned_b ? test.k : test.n, test.dtype, 2);
  const std::vector<float> c = product_of(context, test, a, b);
  // k products of order one are added up in f32.
  const double tolerance = 1e-5 * (1.0 + std::sqrt(static_cast<double>(test.k)));
  for (int64_t i = 0; i < test.m; ++i) {
    for (int64_t j = 0; j < test.n; ++j) {
      double expected = test.output == Output::Accumulate ? kOld : 0.0;
      for (int64_t d = 0; d < test.k; ++d) expected += element(a, i, d, test.a) * element(b, d, j, test.b);
      ASSERT_NEAR(c[static_cast<size_t>(i * test.n + j)], expected, tolerance)
          << set << ": " << test.text() << ", row " << i << ", column " << j;
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Transpose a : {Transpose::No, Transpose::Yes}) {
    for (const Transpose b : {Transpose::No, Transpose::Yes}) {
      for (const int64_t size : {1, 15, 16, 17, 31, 32, 33, 63}) {
        all.push_back({size, 33, 35, a, b});
        all.push_back({17, size, 64, a, b, DType::BF16});
        all.push_back({19, 18, size, a, b, DType::F32, Output::Accumulate});
      }
      // More than a unit, more than a block of depth, and more than one of each.
      all.push_back({270, 20, 33, a, b});
      all.push_back({20, 270, 33, a, b, DType::BF16});
      all.push_back({33, 34, 1100, a, b});
    }
  }
  all.push_back({0, 5, 3});
  all.push_back({5, 0, 3});
  all.push_back({5, 4, 0});
  all.push_back({5, 4, 0, Transpose::No, Transpose::No, DType::F32, Output::Accumulate});
  all.push_back({3, 4100, 5, Transpose::No, Transpose::Yes});  // more than a chunk
  return all;
}

TEST(Bf16Matmul, agrees_with_f64_in_all_orientations_and_odd_sizes) {
  for (const Isa isa : sets_of_this_machine()) {
    Engine engine({.isa = {.name = std::string(name_of(isa)), .source = "test"}});
    for (const Case& test : cases()) expect_product({engine}, test, std::string(name_of(isa)));
  }
}

TEST(Bf16Matmul, gives_the_same_bits_for_any_number_of_threads) {
  const Case test{300, 310, 700, Transpose::Yes, Transpose::Yes};
  for (const Isa isa : sets_of_this_machine()) {
    const auto run = [&](int threads) {
      Engine engine({.threads = threads, .isa = {.name = std::string(name_of(isa)), .source = "test"}});
      const Context context{engine};
      return product_of(context, test, operand(context, test.k, test.m, test.dtype, 1),
                        operand(context, test.n, test.k, test.dtype, 2));
    };
    const std::vector<float> one = run(1);
    EXPECT_EQ(run(2), one) << name_of(isa);
    EXPECT_EQ(run(3), one) << name_of(isa);
  }
}

TEST(PackTiles, packs_the_same_bits_as_the_scalar_twin) {
  Engine engine;
  const Context context{engine};
  for (const Isa isa : simd_sets_of_this_machine()) {
    for (const TileFormat format : {TileFormat::A, TileFormat::B}) {
      for (const Transpose transpose : {Transpose::No, Transpose::Yes}) {
        for (const int64_t outer : {1, 16, 33, 63}) {
          for (const int64_t depth : {1, 31, 32, 65}) {
            const bool turned = transpose == Transpose::Yes;
            const Tensor x = operand(context, turned ? depth : outer, turned ? outer : depth, DType::F32, 5);
            const auto pack = [&](const Kernels<float>& kernels) {
              std::vector<Bf16> tiles(static_cast<size_t>(packed_count(outer, depth)), Bf16{0x7777});
              kernels.pack_tiles({.x = x.data<float>(),
                                  .stride = x.cols(),
                                  .transpose = transpose,
                                  .outer = outer,
                                  .depth = depth,
                                  .format = format,
                                  .tiles = tiles.data()},
                                 {0, strip_pairs(outer)});
              std::vector<uint16_t> bits;
              for (const Bf16 each : tiles) bits.push_back(each.bits);
              return bits;
            };
            ASSERT_EQ(pack(f32_kernels(isa)), pack(f32_kernels(Isa::Scalar)))
                << name_of(isa) << ": " << outer << " outer, " << depth << " deep";
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace sluice::test
