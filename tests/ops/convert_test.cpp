#include "sluice/ops/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "sluice/base/random.h"

namespace sluice {
namespace {

TEST(Convert, every_bf16_survives_the_way_to_f32_and_back_on_every_instruction_set) {
  for (const Isa isa : available_isas(detect_cpu())) {
    Engine engine({.isa = {.name = std::string(name_of(isa)), .source = "test"}});
    const Context context{engine};
    const Tensor all = context.empty({1 << 16}, DType::BF16);
    for (int bits = 0; bits < 1 << 16; ++bits) all.data<Bf16>()[bits] = {static_cast<uint16_t>(bits)};
    const Tensor back = convert(context, convert(context, all, DType::F32), DType::BF16);
    for (int bits = 0; bits < 1 << 16; ++bits) {
      const bool is_nan = (bits & 0x7fff) > 0x7f80;
      const int quiet = is_nan ? bits | 0x40 : bits;
      ASSERT_EQ(back.data<Bf16>()[bits].bits, quiet) << name_of(isa) << ", bits " << bits;
    }
  }
}

TEST(Convert, rounds_like_the_scalar_twin_on_every_instruction_set) {
  std::vector<float> values = {0.0F,
                               -0.0F,
                               1.0F + 0x1p-8F,
                               1.0F + 3 * 0x1p-8F,
                               0x1.fffffep127F,
                               0x1p-149F,
                               std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN()};
  for (uint64_t i = 0; i < 1000; ++i) values.push_back(std::bit_cast<float>(Random(3).bits(i)[0]));
  for (const Isa isa : available_isas(detect_cpu())) {
    Engine engine({.isa = {.name = std::string(name_of(isa)), .source = "test"}});
    const Context context{engine};
    const auto count = static_cast<int64_t>(values.size());
    const Tensor rounded = convert(context, Tensor::from<float>(engine.pool(), {count}, values), DType::BF16);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(rounded.data<Bf16>()[i].bits, to_bf16(values[i]).bits) << name_of(isa) << ": " << values[i];
    }
  }
}

TEST(Convert, refuses_pairs_it_does_not_know) {
  Engine engine;
  const Context context{engine};
  EXPECT_THROW(convert(context, context.zeros({1}, DType::F32), DType::F32), AssertionError);
  EXPECT_THROW(convert(context, context.zeros({1}, DType::I32), DType::BF16), AssertionError);
}

}  // namespace
}  // namespace sluice
