#include "sluice/infer/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace sluice {
namespace {

const std::vector<float> kLogits = {0.0F, 2.0F, 1.0F, -1.0F, 2.0F};

std::map<int32_t, int> counts(const SamplerOptions& options, int draws) {
  Sampler sampler(options);
  std::map<int32_t, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[sampler.next(kLogits)];
  return counts;
}

TEST(Sampler, takes_the_first_of_the_largest_at_temperature_zero) {
  EXPECT_EQ(counts({}, 5), (std::map<int32_t, int>{{1, 5}}));
}

TEST(Sampler, draws_as_often_as_the_probabilities_say) {
  constexpr int kDraws = 20000;
  const auto drawn = counts({.temperature = 1.0, .seed = 3}, kDraws);
  double total = 0;
  for (const float logit : kLogits) total += std::exp(logit);
  for (size_t id = 0; id < kLogits.size(); ++id) {
    const double expected = kDraws * std::exp(kLogits[id]) / total;
    EXPECT_NEAR(drawn.at(static_cast<int32_t>(id)), expected, 5 * std::sqrt(expected)) << id;
  }
}

TEST(Sampler, top_k_keeps_the_likeliest_and_the_smaller_of_equal_ids) {
  EXPECT_EQ(counts({.temperature = 1.0, .top_k = 1}, 50), (std::map<int32_t, int>{{1, 50}}));
  const auto three = counts({.temperature = 1.0, .top_k = 3}, 500);
  EXPECT_EQ(three.size(), 3U);
  EXPECT_FALSE(three.contains(0));
}

TEST(Sampler, top_p_keeps_the_fewest_that_hold_the_share) {
  // The two largest hold 0.39 each of the probability.
  EXPECT_EQ(counts({.temperature = 1.0, .top_p = 0.3}, 50).size(), 1U);
  EXPECT_EQ(counts({.temperature = 1.0, .top_p = 0.5}, 500).size(), 2U);
  EXPECT_EQ(counts({.temperature = 1.0, .top_p = 0.0}, 50), (std::map<int32_t, int>{{1, 50}}));
}

TEST(Sampler, min_p_leaves_out_what_is_far_less_likely_than_the_first) {
  const auto drawn = counts({.temperature = 1.0, .min_p = 0.3}, 2000);  // e^-1 = 0.37, e^-2 = 0.14
  EXPECT_EQ(drawn.size(), 3U);
  EXPECT_TRUE(drawn.contains(2));
}

TEST(Sampler, depends_on_the_seed_alone) {
  const SamplerOptions options{.temperature = 1.0, .seed = 9};
  Sampler one(options), two(options), other({.temperature = 1.0, .seed = 10});
  int differences = 0;
  for (int i = 0; i < 100; ++i) {
    const int32_t id = one.next(kLogits);
    EXPECT_EQ(two.next(kLogits), id);
    if (other.next(kLogits) != id) ++differences;
  }
  EXPECT_GT(differences, 20);
}

}  // namespace
}  // namespace sluice
