// Shared execution of a plan, held against evaluations of every run on its own: the same bits.
#include "sluice/ablate/plan_runner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "sluice/ablate/matched_noise.h"
#include "sluice/eval/evaluate.h"
#include "sluice/model/random_model.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/model/small_model.h"

namespace sluice {
namespace {

// A gate at every position, so that runs can begin anywhere; sandwich norms are a case of their own.
ModelConfig breakable_model() {
  std::vector<GateSpec> gates;
  for (const auto position :
       {GatePosition::G1, GatePosition::G2, GatePosition::G3, GatePosition::G4, GatePosition::G5})
    gates.push_back({.position = position, .init_std = 0.5});
  ModelConfig config = small_model(GateLayout::Separate, std::move(gates));
  config.layers = 4;
  config.positions = 128;
  return config;
}

ModelConfig model_with_one_gate() {
  ModelConfig config = small_model(GateLayout::Separate, {{.init_std = 0.5}});
  config.layers = 4;
  config.positions = 128;
  return config;
}

std::vector<TokenId> random_text(int64_t count, uint64_t seed) {
  std::vector<TokenId> ids;
  for (int64_t i = 0; i < count; ++i)
    ids.push_back(static_cast<TokenId>(Random(seed).below(static_cast<uint64_t>(i), 50)));
  return ids;
}

AblationPlan plan_of(const std::vector<std::vector<std::string>>& runs) {
  AblationPlan plan;
  for (const std::vector<std::string>& interventions : runs)
    plan.runs.push_back({.name = fmt::format("run {}", plan.runs.size()), .interventions = interventions});
  return plan;
}

// Every kind of change at the gate; every place to begin; several at once.
AblationPlan plan_of_every_kind(const ModelConfig& config) {
  std::vector<std::vector<std::string>> runs;
  for (const char* change : {"set=1", "scale=0.5", "shift=0.1", "invert", "noise=0.5,3", "mean", "head-mean",
                             "layer-mean", "overall-mean", "shuffle=1", "shuffle=2"}) {
    runs.push_back({std::string("attn.gate ") + change});
    runs.push_back({std::string("layers.2.attn.gate heads=1 ") + change});
  }
  for (const TapPoint& point : points::kAll) {
    const bool has_gate =
        point.axes != TapAxes::Gate || std::ranges::any_of(config.gates, [&](const auto& gate) {
          return gate.position->tap.name == point.name;
        });
    if (point.access == TapAccess::ReadOnly || !has_gate || is_of_experts(point)) continue;
    const TapName name{point.place == TapPlace::Model ? TapName::kNoLayer : 1, point};
    runs.push_back({name.text() + " scale=0.5"});
  }
  runs.push_back({"layers.1.mlp.out noise=0.1", "layers.3.attn.gate set=0 positions=0"});
  runs.push_back({"layers.1-2.attn.gate set=0.15 positions=1-"});
  return plan_of(runs);
}

struct SharingCase {
  std::string name;
  ModelConfig (*config)();
  DType dtype = DType::F32;
  int threads = 1;
  int64_t memory = int64_t{1} << 30;
};

class Sharing : public testing::TestWithParam<SharingCase> {};

ChunkedText chunks_of(int64_t length) {
  return cut_into_chunks(random_text(2 * length, 1), {.length = length}, {});
}

// The calibration that a plan needs, from other text than the chunks.
std::shared_ptr<const Calibration> calibration_of(const LoadedModel& model, const AblationPlan& plan) {
  const std::vector<std::vector<TokenId>> text = {random_text(80, 7), random_text(80, 8), random_text(80, 9)};
  const std::vector<Intervention> all = all_interventions(plan, model.config());
  return calibrate(model.context(), model.decoder(), {.interventions = all, .sequences = text});
}

std::vector<ChunkNll> evaluated(const LoadedModel& model, const ChunkedText& text, const PlannedRun& run,
                                const std::shared_ptr<const Calibration>& calibration) {
  EvaluationRequest request{.text = text,
                            .interventions = parse_interventions(run.interventions, model.config())};
  give_calibration(request.interventions, calibration);
  return evaluate(model, request).chunks;
}

std::filesystem::path written_model(const TemporaryDirectory& directory, const ModelConfig& config) {
  const std::filesystem::path path = directory.path() / "model";
  write_random_model({.config = config, .seed = 3}, Threads(1), path);
  return path;
}

std::vector<size_t> all_of(const AblationPlan& plan) {
  std::vector<size_t> runs(plan.runs.size());
  std::iota(runs.begin(), runs.end(), size_t{0});
  return runs;
}

// 66 tokens are predicted in two blocks of logits, the second of two rows: another way of computing them.
TEST_P(Sharing, gives_the_bits_of_separate_evaluations_for_every_kind_of_intervention) {
  const TemporaryDirectory directory;
  Engine engine({.threads = GetParam().threads});
  const LoadedModel model(engine, written_model(directory, GetParam().config()), {.dtype = GetParam().dtype});
  const AblationPlan plan = plan_of_every_kind(model.config());
  const auto calibration = calibration_of(model, plan);
  const ChunkedText text = chunks_of(67);
  const PlanRunner runner(model, plan, calibration, {.memory = GetParam().memory});
  std::vector<PlanRunner::ChunkResult> results;
  for (int64_t i = 0; i < text.chunks(); ++i)
    results.push_back(runner.measure(text.chunk(i), i, all_of(plan)));
  const Evaluation unbroken = evaluate(model, {.text = text});
  for (size_t chunk = 0; chunk < results.size(); ++chunk)
    EXPECT_EQ(results[chunk].base.nll.sum, unbroken.chunks[chunk].sum);
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    const std::vector<ChunkNll> alone = evaluated(model, text, plan.runs[run], calibration);
    for (size_t chunk = 0; chunk < results.size(); ++chunk) {
      EXPECT_EQ(results[chunk].runs[run].nll.sum, alone[chunk].sum)
          << plan.runs[run].interventions.front() << ", chunk " << chunk;
      EXPECT_EQ(results[chunk].runs[run].nll.tokens, 66);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, Sharing,
    testing::Values(SharingCase{"f32", breakable_model}, SharingCase{"bf16", breakable_model, DType::BF16},
                    SharingCase{"f32_on_two_threads", model_with_one_gate, DType::F32, 2},
                    SharingCase{"bf16_on_two_threads", model_with_one_gate, DType::BF16, 2},
                    SharingCase{"int8", model_with_one_gate, DType::I8},
                    SharingCase{"f32_with_no_memory", model_with_one_gate, DType::F32, 1, 0},
                    SharingCase{"bf16_with_little_memory", model_with_one_gate, DType::BF16, 1, 1 << 20}),
    [](const auto& test) { return test.param.name; });

class PlanRunners : public testing::Test {
 protected:
  PlanRunner::ChunkResult measured(const AblationPlan& plan, const PlanRunnerOptions& options = {}) {
    const PlanRunner runner(model_, plan, calibration_of(model_, plan), options);
    return runner.measure(chunk_, 0, all_of(plan));
  }

  TemporaryDirectory directory_;
  Engine engine_;
  LoadedModel model_{engine_, written_model(directory_, model_with_one_gate())};
  Chunk chunk_{.ids = random_text(31, 4), .predicted = 30};
};

TEST_F(PlanRunners, measure_how_predictions_differ_from_the_unbroken_model_s) {
  const AblationPlan plan =
      plan_of({{"attn.gate scale=1"}, {"logits set=0"}, {"logits shift=3"}, {"layers.1.resid noise=3"}});
  const PlanRunner::ChunkResult result = measured(plan);
  EXPECT_EQ(result.runs[0].kl, 0.0);
  EXPECT_EQ(result.runs[0].changed_top1, 0);
  EXPECT_NEAR(result.runs[2].kl, 0.0, 1e-4) << "probabilities stay what they were";
  EXPECT_EQ(result.runs[2].changed_top1, 0);
  EXPECT_GT(result.runs[3].kl, 0.1);
  EXPECT_GT(result.runs[3].changed_top1, 0);
  // Against a uniform guess: the logarithm of the vocabulary less the entropy.
  const Context context = model_.context();
  const auto inputs = std::span(chunk_.ids).first(30);
  const Tensor logits = model_.decoder().logits(context, model_.decoder().forward(context, inputs).y).value();
  double expected = 0;
  for (int64_t row = 0; row < 30; ++row) {
    double sum = 0, weighted = 0;
    for (int64_t i = 0; i < 50; ++i) sum += std::exp(static_cast<double>(logits.data<float>()[row * 50 + i]));
    for (int64_t i = 0; i < 50; ++i) {
      const double p = std::exp(static_cast<double>(logits.data<float>()[row * 50 + i])) / sum;
      weighted += p * std::log(p * 50);
    }
    expected += weighted;
  }
  EXPECT_NEAR(result.runs[1].kl, expected, 1e-4);
}

TEST_F(PlanRunners, measure_sink_and_largest_activation_of_the_layers_that_a_run_changes_and_of_the_others) {
  const AblationPlan plan =
      plan_of({{"layers.2.resid scale=10"}, {"layers.3.attn.gate set=1"}, {"attn.q set=0"}});
  const PlanRunner::ChunkResult result = measured(plan);
  EXPECT_GT(result.base.sink, 0);
  EXPECT_GT(result.runs[0].largest_activation, 2 * result.base.largest_activation);
  EXPECT_EQ(result.runs[1].sink, result.base.sink) << "the last layer's attention comes before its gate";
  double uniform = 0;
  for (int64_t query = 1; query <= 30; ++query) uniform += 1.0 / static_cast<double>(query);
  EXPECT_NEAR(result.runs[2].sink, uniform / 30, 1e-5) << "equal scores are uniform attention";
}

TEST_F(PlanRunners, leave_out_what_is_not_wanted) {
  const AblationPlan plan = plan_of({{"layers.1.attn.gate set=1"}});
  const PlanRunner::ChunkResult all = measured(plan);
  const PlanRunner::ChunkResult little = measured(plan, {.divergence = false, .signs = false});
  EXPECT_EQ(little.runs[0].nll.sum, all.runs[0].nll.sum);
  EXPECT_EQ(little.runs[0].kl, 0);
  EXPECT_EQ(little.runs[0].sink, 0);
  EXPECT_EQ(little.base.largest_activation, 0);
}

TEST_F(PlanRunners, run_what_they_are_asked_for_in_that_order) {
  const AblationPlan plan =
      plan_of({{"layers.3.attn.gate set=1"}, {"attn.gate set=0"}, {"embedding scale=2"}});
  const PlanRunner runner(model_, plan, {});
  const PlanRunner::ChunkResult all = runner.measure(chunk_, 0, all_of(plan));
  const PlanRunner::ChunkResult some = runner.measure(chunk_, 0, std::vector<size_t>{2, 0});
  EXPECT_EQ(some.runs[0].nll.sum, all.runs[2].nll.sum);
  EXPECT_EQ(some.runs[1].nll.sum, all.runs[0].nll.sum);
  EXPECT_EQ(runner.measure(chunk_, 0, {}).base.nll.sum, all.base.nll.sum);
}

TEST_F(PlanRunners, give_a_likelihood_that_is_not_finite_as_it_is) {
  const AblationPlan plan = plan_of({{"attn.gate set=1"}, {"logits scale=1e38", "logits scale=1e38"}});
  const PlanRunner::ChunkResult result = measured(plan);
  EXPECT_TRUE(std::isfinite(result.runs[0].nll.sum));
  EXPECT_FALSE(std::isfinite(result.runs[1].nll.sum));
}

TEST_F(PlanRunners, refuse_means_without_a_calibration) {
  EXPECT_THROW(PlanRunner(model_, plan_of({{"attn.gate mean"}}), {}), Error);
}

TEST_F(PlanRunners, stop_when_they_are_told_to) {
  const AblationPlan plan = plan_of({{"attn.gate set=1"}});
  const PlanRunner runner(model_, plan, {});
  const JobControl control{.cancelled = [] { return true; }};
  EXPECT_ERROR(runner.measure(chunk_, 0, all_of(plan), control), ErrorKind::Interrupted, "interrupted");
}

// Noise on the stream, and on the run's own head and another one, changes the stream by as much as the run.
TEST_F(PlanRunners, have_noise_for_a_control_that_changes_the_stream_as_much_as_the_run) {
  const std::vector<std::vector<TokenId>> text = {random_text(20, 7), random_text(30, 8)};
  AblationPlan plan;
  plan.runs = {{.name = "layer 2 open",
                .group = "layers",
                .action = "open",
                .layer = 2,
                .interventions = {"layers.2.attn.gate set=1"}},
               {.name = "layer 1 head 3 closed",
                .group = "heads",
                .action = "closed",
                .layer = 1,
                .head = 3,
                .interventions = {"layers.1.attn.gate set=0 heads=3"}}};
  const auto size_of = [&](const PlannedRun& run) {
    return relative_change(model_, text, parse_interventions(run.interventions, model_.config()), *run.layer);
  };
  add_matched_noise(plan, model_, {.sequences = text, .seed = 5});
  ASSERT_EQ(plan.runs.size(), 2U + 4 + 2)
      << "stream here and elsewhere; of a head also its output and another's";
  int64_t in_heads = 0;
  for (const PlannedRun& run : plan.runs) {
    if (run.control_of.empty()) continue;
    EXPECT_EQ(run.action, "noise");
    const PlannedRun& broken = *plan.find(run.control_of);
    if (run.head) {
      ++in_heads;
      EXPECT_NEAR(size_of(run) / size_of(broken), 1, 1e-3) << run.name;
    } else {
      const Intervention noise = parse_intervention(run.interventions.front(), model_.config());
      EXPECT_NEAR(noise.amount / size_of(broken), 1, 1e-4) << run.name;
    }
  }
  EXPECT_EQ(in_heads, 2);
}

// Whatever is done to a gate has noise of its size as a control; of several draws of a shuffle the first.
TEST_F(PlanRunners, have_noise_for_every_action) {
  const std::vector<std::vector<TokenId>> text = {random_text(20, 7), random_text(20, 8), random_text(20, 9)};
  AblationPlan plan;
  for (const char* change : {"mean", "invert", "shuffle=1", "shuffle=2"}) {
    const std::string word = change;
    plan.runs.push_back({.name = word == "shuffle=1"   ? "layer 1 shuffled 1"
                                 : word == "shuffle=2" ? "layer 1 shuffled 2"
                                                       : "layer 1 " + word,
                         .group = "layers",
                         .action = word.starts_with("shuffle") ? "shuffled" : word,
                         .layer = 1,
                         .interventions = {"layers.1.attn.gate " + word}});
  }
  const std::vector<Intervention> all = all_interventions(plan, model_.config());
  const auto calibration = calibrate(model_.context(nullptr, Packing::Keep), model_.decoder(),
                                     {.interventions = all, .sequences = text});
  add_matched_noise(plan, model_, {.sequences = text, .calibration = calibration, .seed = 5});
  for (const char* run : {"layer 1 mean", "layer 1 invert", "layer 1 shuffled 1"})
    EXPECT_NE(plan.find(std::string(run) + " / noise"), nullptr) << run;
  EXPECT_EQ(plan.find("layer 1 shuffled 2 / noise"), nullptr);
}

}  // namespace
}  // namespace sluice
