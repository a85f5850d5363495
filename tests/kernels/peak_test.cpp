#include "sluice/kernels/peak.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sluice/kernels/measure.h"
#include "tests/kernels/instruction_sets.h"

namespace sluice::test {
namespace {

using Burst = int64_t (*)(int64_t rounds, float* sink);

void expect_operations_in_proportion(Burst burst, const std::string& what) {
  float sink = 0;
  const int64_t per_round = burst(1, &sink);
  EXPECT_GT(per_round, 0) << what;
  EXPECT_EQ(burst(0, &sink), 0) << what;
  for (const int64_t rounds : {2, 7, 1000}) EXPECT_EQ(burst(rounds, &sink), rounds * per_round) << what;
  EXPECT_TRUE(std::isfinite(sink)) << what;
  EXPECT_NE(sink, 0.0F) << what << ": the work was dropped";
}

TEST(PeakKernels, count_operations_in_proportion_to_the_rounds) {
  for (const Isa isa : sets_of_this_machine()) {
    const PeakKernels peak = peak_kernels(isa);
    expect_operations_in_proportion(peak.f32_multiply_add, std::string(name_of(isa)) + ": multiply-add");
    EXPECT_EQ(peak.bf16_products != nullptr, isa >= Isa::Avx512Bf16) << name_of(isa);
    if (peak.bf16_products != nullptr) expect_operations_in_proportion(peak.bf16_products, "bf16");
  }
}

TEST(PeakKernels, wider_sets_do_more_in_a_round) {
  float sink = 0;
  int64_t narrower = 0;
  for (const Isa isa : sets_of_this_machine()) {
    if (isa > Isa::Avx512) continue;  // their f32 kernels are those of AVX-512
    const int64_t operations = peak_kernels(isa).f32_multiply_add(1, &sink);
    EXPECT_GT(operations, narrower) << name_of(isa);
    narrower = operations;
  }
}

TEST(PeakKernels, read_sums_every_element_once) {
  std::vector<float> x(1100);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13 + 1);  // sums of these are exact
  for (const Isa isa : sets_of_this_machine()) {
    const PeakKernels peak = peak_kernels(isa);
    float expected = 0;
    for (size_t n = 0; n <= x.size(); ++n) {
      ASSERT_EQ(peak.read(x.data(), static_cast<int64_t>(n)), expected) << name_of(isa) << ", n " << n;
      if (n < x.size()) expected += x[n];
    }
  }
}

TEST(MeasurePeaks, gives_positive_rates_of_believable_size) {
  MemoryPool pool;
  const Isa best = sets_of_this_machine().back();
  const MachinePeaks peaks = measure_peaks(peak_kernels(best), Threads(2), pool);
  const auto expect_believable = [](const Rate& rate, const char* what) {
    for (const double value : {rate.one_core, rate.all_threads}) {
      EXPECT_GT(value, 1e6) << what;  // slower than any machine since 1990
      EXPECT_LT(value, 1e16) << what;
    }
  };
  expect_believable(peaks.f32_flops, "f32");
  expect_believable(peaks.read_bandwidth, "reads");
  EXPECT_EQ(peaks.bf16_flops.has_value(), best >= Isa::Avx512Bf16);
  if (peaks.bf16_flops) expect_believable(*peaks.bf16_flops, "bf16");
  EXPECT_EQ(pool.stats().in_use, 0U);
}

}  // namespace
}  // namespace sluice::test
