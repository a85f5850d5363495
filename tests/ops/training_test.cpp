// The engine as a whole: a two-block model with all of g1 … g5 learns, and does so reproducibly.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/ops/toy_model.h"

namespace sluice::test {
namespace {

struct Run {
  int threads = 1;
  std::string isa = {};
  int steps = 60;
  Activations activations = Activations::Keep;
};

std::vector<float> losses_of(const Run& run) {
  Engine engine({.threads = run.threads, .isa = {.name = run.isa, .source = "test"}});
  ToyModel model(engine);
  std::vector<float> losses;
  for (int step = 0; step < run.steps; ++step) {
    losses.push_back(model.train_step(step, run.activations));
    model.update(step);
  }
  return losses;
}

float mean_of(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0F) / static_cast<float>(values.size());
}

TEST(Training, learns_to_look_back) {
  const std::vector<float> losses = losses_of({.threads = 2, .steps = 300});
  const float first = mean_of(std::span(losses).first(20));
  const float last = mean_of(std::span(losses).last(20));
  EXPECT_GT(first, 2.0F) << "ln 12 = 2.48 is chance";
  EXPECT_LT(last, 0.5F * first);
}

TEST(Training, gives_the_same_losses_when_run_again_and_on_two_threads) {
  for (const Isa isa : available_isas(detect_cpu())) {
    const std::string name(name_of(isa));
    const std::vector<float> once = losses_of({.threads = 1, .isa = name});
    EXPECT_EQ(losses_of({.threads = 1, .isa = name}), once) << name << ", run again";
    EXPECT_EQ(losses_of({.threads = 2, .isa = name}), once) << name << ", two threads";
  }
}

TEST(Training, gives_the_same_losses_when_blocks_are_recomputed) {
  EXPECT_EQ(losses_of({.activations = Activations::Recompute}),
            losses_of({.activations = Activations::Keep}));
}

TEST(Training, goes_the_same_way_on_every_instruction_set) {
  const std::vector<float> scalar = losses_of({.isa = "scalar", .steps = 20});
  for (const Isa isa : available_isas(detect_cpu())) {
    const std::vector<float> losses = losses_of({.isa = std::string(name_of(isa)), .steps = 20});
    for (size_t step = 0; step < losses.size(); ++step) {
      EXPECT_NEAR(losses[step], scalar[step], 2e-3) << name_of(isa) << ", step " << step;
    }
  }
}

TEST(Training, adds_up_gradients_of_several_batches) {
  Engine engine;
  ToyModel together(engine);
  together.train_step(0, Activations::Keep);
  together.train_step(1, Activations::Keep);
  ToyModel first(engine), second(engine);
  first.train_step(0, Activations::Keep);
  second.train_step(1, Activations::Keep);
  for (size_t p = 0; p < together.parameters().size(); ++p) {
    const auto sum = together.parameters()[p]->grad.values<float>();
    const auto a = first.parameters()[p]->grad.values<float>();
    const auto b = second.parameters()[p]->grad.values<float>();
    for (size_t i = 0; i < sum.size(); ++i) {
      ASSERT_NEAR(sum[i], a[i] + b[i], 1e-5F) << together.parameters()[p]->name;
    }
  }
}

}  // namespace
}  // namespace sluice::test
