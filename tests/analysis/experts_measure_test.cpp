#include "sluice/analysis/experts_measure.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sluice {
namespace {

ExpertsLayer expert_layer(const std::vector<float>& weights, const std::vector<float>& probabilities,
                          int64_t experts) {
  MemoryPool pool;
  ExpertsLayer layer;
  const auto tokens = static_cast<int64_t>(weights.size()) / experts;
  add_choices(layer, Tensor::from<float>(pool, {tokens, experts}, weights));
  add_router(layer, Tensor::from<float>(pool, {tokens, experts}, probabilities));
  return layer;
}

TEST(ExpertsMeasure, of_a_perfect_balance_is_one) {
  const ExpertsLayer layer = expert_layer({1, 0, 0, 1}, {0.5, 0.5, 0.5, 0.5}, 2);
  EXPECT_DOUBLE_EQ(layer.load_entropy(), 1);
  EXPECT_DOUBLE_EQ(layer.largest_load(), 1);
  EXPECT_DOUBLE_EQ(layer.router_entropy(), 1);
  EXPECT_EQ(layer.dead(), 0);
}

TEST(ExpertsMeasure, tells_a_collapse) {
  const ExpertsLayer layer = expert_layer({1, 0, 0, 0, 1, 0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0}, 4);
  EXPECT_DOUBLE_EQ(layer.load_entropy(), 0);
  EXPECT_DOUBLE_EQ(layer.largest_load(), 4);
  EXPECT_DOUBLE_EQ(layer.router_entropy(), 0);
  EXPECT_EQ(layer.dead(), 3);
}

TEST(ExpertsMeasure, adds_up_layers) {
  const std::vector<ExpertsLayer> layers = {expert_layer({1, 0, 0, 1}, {0.5, 0.5, 0.5, 0.5}, 2),
                                            expert_layer({1, 0, 1, 0}, {1, 0, 1, 0}, 2)};
  const ExpertsPulse pulse = pulse_of(layers);
  EXPECT_DOUBLE_EQ(pulse.load_entropy, 0.5);
  EXPECT_DOUBLE_EQ(pulse.largest_load, 1.5);
  EXPECT_DOUBLE_EQ(pulse.router_entropy, 0.5);
  EXPECT_EQ(pulse.dead, 1);
}

}  // namespace
}  // namespace sluice
