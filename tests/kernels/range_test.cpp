// What threads rely on: a kernel run over parts of its range gives the bits of one run over the whole, and a
// part touches nothing that belongs to another.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "sluice/base/random.h"
#include "tests/kernels/instruction_sets.h"
#include "tests/kernels/range_cases.h"

namespace sluice::test {
namespace {

class RangeKernels : public testing::TestWithParam<RangeCase> {};

std::vector<Output> outputs_of(const RangeCase& range_case, Isa isa, const std::vector<Range>& parts) {
  std::vector<Output> outputs = range_case.outputs;
  for (const Range part : parts) range_case.run(f32_kernels(isa), part, outputs);
  return outputs;
}

// Cuts [0, size) at random places, empty parts included, and shuffles the parts.
std::vector<Range> random_parts(int64_t size, uint64_t seed) {
  const Random random(seed);
  std::vector<int64_t> cuts = {0, size};
  const uint64_t count = 1 + random.below(0, 8);
  for (uint64_t i = 1; i <= count; ++i) cuts.push_back(static_cast<int64_t>(random.below(i, size + 1)));
  std::ranges::sort(cuts);
  std::vector<Range> parts;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) parts.push_back({cuts[i], cuts[i + 1]});
  for (size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[random.below(100 + i, i)]);
  return parts;
}

std::string text_of(const std::vector<Range>& parts) {
  std::string text;
  for (const Range part : parts) text += fmt::format("[{}, {}) ", part.begin, part.end);
  return text;
}

// Bits and not values: a NaN is equal to itself, and 0 is not -0.
bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

TEST_P(RangeKernels, give_the_same_bits_however_the_range_is_cut) {
  constexpr uint64_t kRounds = 20;
  for (const Isa isa : sets_of_this_machine()) {
    const std::vector<Output> whole = outputs_of(GetParam(), isa, {{0, GetParam().size}});
    for (uint64_t round = 0; round < kRounds; ++round) {
      const std::vector<Range> parts = random_parts(GetParam().size, round);
      const std::vector<Output> cut = outputs_of(GetParam(), isa, parts);
      for (size_t o = 0; o < whole.size(); ++o) {
        for (size_t i = 0; i < whole[o].values.size(); ++i) {
          ASSERT_TRUE(same_bits(cut[o].values[i], whole[o].values[i]))
              << name_of(isa) << ": element " << i << " of output " << o << " is " << cut[o].values[i]
              << ", not " << whole[o].values[i] << " for the parts " << text_of(parts);
        }
      }
    }
  }
}

TEST_P(RangeKernels, touch_only_what_belongs_to_the_range) {
  const int64_t size = GetParam().size;
  const std::vector<Range> parts = {{0, 1}, {size / 3, size / 2}, {size / 2, size / 2}, {size - 1, size}};
  for (const Isa isa : sets_of_this_machine()) {
    for (const Range part : parts) {
      const std::vector<Output> after = outputs_of(GetParam(), isa, {part});
      for (size_t o = 0; o < after.size(); ++o) {
        const Output& before = GetParam().outputs[o];
        for (size_t i = 0; i < before.values.size(); ++i) {
          const int64_t index = static_cast<int64_t>(i) / before.block % before.period;
          if (index >= part.begin && index < part.end) continue;
          ASSERT_TRUE(same_bits(after[o].values[i], before.values[i]))
              << name_of(isa) << ": [" << part.begin << ", " << part.end << ") changed element " << i
              << " of output " << o;
        }
      }
    }
  }
}

// A case that writes nothing would pass all of the above.
TEST_P(RangeKernels, write_something) {
  for (const Isa isa : sets_of_this_machine()) {
    const std::vector<Output> after = outputs_of(GetParam(), isa, {{0, GetParam().size}});
    EXPECT_NE(after[0].values, GetParam().outputs[0].values) << name_of(isa);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, RangeKernels, testing::ValuesIn(range_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sluice::test
