// A mixture of experts and its gated twin train: they learn, resume, and keep their routers in balance over
// the passes of a step.
#include <cmath>

#include "sluice/analysis/experts_measure.h"
#include "sluice/data/random_batch.h"
#include "sluice/train/metrics.h"
#include "tests/train/runs.h"

namespace sluice {
namespace {

RunConfig expert_run(GateLayout layout, Precision precision = Precision::Bf16) {
  RunConfig config = small_run(precision);
  config.model = small_experts(layout);
  return config;
}

class ExpertRuns : public Runs, public testing::WithParamInterface<GateLayout> {};

TEST_P(ExpertRuns, learn_and_tell_the_load_of_their_experts) {
  RunConfig config = expert_run(GetParam());
  config.trainer.schedule.steps = 60;
  const RunState state = train("run", config);
  EXPECT_LT(state.best_loss, 1.0) << "ln 50 = 3.9 is chance";
  const RunMetrics metrics = read_metrics(directory_.path() / "run");
  EXPECT_LT(metrics.steps.back().loss, 0.5 * metrics.steps.front().loss);
  const std::optional<ExpertsPulse> experts = metrics.validations.back().validation.pulse.experts;
  ASSERT_TRUE(experts.has_value());
  EXPECT_GT(experts->load_entropy, 0.7);
  EXPECT_GE(experts->largest_load, 1.0);
  EXPECT_LE(experts->dead, 12);
}

TEST_P(ExpertRuns, killed_and_resumed_end_with_the_same_weights) {
  const RunConfig config = expert_run(GetParam());
  train("whole", config);
  train("killed", config, 7);
  train("killed", config, 13);
  train("killed", config);
  EXPECT_EQ(weights("killed"), weights("whole"));
}

TEST_P(ExpertRuns, give_the_same_bits_for_any_number_of_threads_and_with_recomputation) {
  const RunConfig config = expert_run(GetParam());
  train("one", config);
  train("two", config, 1 << 30, 2);
  EXPECT_EQ(weights("two"), weights("one"));
  RunConfig recomputing = config;
  recomputing.trainer.activations = Activations::Recompute;
  train("recomputed", recomputing);
  EXPECT_EQ(weights("recomputed"), weights("one"));
}

INSTANTIATE_TEST_SUITE_P(Twins, ExpertRuns, testing::Values(GateLayout::None, GateLayout::PackedPerGroup),
                         [](const auto& test) { return test.param == GateLayout::None ? "plain" : "gated"; });

// Gradients of a step's batches, all parameters one after the other.
std::vector<float> gradients_of(std::span<const Batch> batches, BalanceOver over) {
  Engine engine({.threads = 1});
  Decoder decoder(small_experts(GateLayout::None));
  decoder.initialise(engine, Random(3), {.std = 0.2});
  // Balance alone would be too small to see beside the loss of tokens.
  Trainer trainer(engine, decoder,
                  {.precision = Precision::F32, .routers = {.balance = 100, .z = 0, .over = over}});
  trainer.accumulate(batches);
  std::vector<float> all;
  for (const NamedParameter& named : decoder.parameters()) {
    const auto grad = named.parameter->grad.values<float>();
    all.insert(all.end(), grad.begin(), grad.end());
  }
  return all;
}

double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(double{a[i]} - b[i], 2);
    size += std::pow(double{a[i]}, 2);
  }
  return std::sqrt(difference / size);
}

// The first half of a batch's sequences, or the second.
Batch half_of(const Batch& whole, size_t which) {
  const size_t count = whole.inputs.size() / 2;
  const auto part = [&](const std::vector<TokenId>& ids) {
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(which * count);
    return std::vector<TokenId>(first, first + static_cast<std::ptrdiff_t>(count));
  };
  Batch half = whole;
  half.inputs = part(whole.inputs);
  half.targets = part(whole.targets);
  half.sequences = whole.sequences / 2;
  return half;
}

TEST(RouterBalance, over_a_step_does_not_depend_on_how_it_is_cut_into_passes) {
  const Batch whole = random_batch({.sequences = 4, .length = 8, .vocabulary = 50});
  const std::vector<Batch> halves = {half_of(whole, 0), half_of(whole, 1)};
  const std::vector<float> together = gradients_of({&whole, 1}, BalanceOver::Step);
  EXPECT_LT(relative_difference(together, gradients_of(halves, BalanceOver::Step)), 1e-4);
  EXPECT_GT(relative_difference(together, gradients_of(halves, BalanceOver::Pass)), 1e-2);
}

}  // namespace
}  // namespace sluice
