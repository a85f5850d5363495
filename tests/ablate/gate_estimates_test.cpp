#include "sluice/ablate/gate_estimates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/ablate/gate_gradients.h"
#include "sluice/data/backcopy.h"
#include "sluice/eval/evaluate.h"
#include "sluice/model/random_model.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/model/small_model.h"

namespace sluice {
namespace {

std::filesystem::path golden_directory(const std::string& name) {
  return std::filesystem::path(SLUICE_SOURCE_DIR) / "tests/golden" / name;
}

// Tokens without a pattern.
ChunkedText scattered_text(int64_t vocabulary, int64_t chunks, int64_t length) {
  std::vector<TokenId> tokens;
  for (int64_t i = 0; i < chunks * length; ++i)
    tokens.push_back(
        static_cast<TokenId>(Random(5).below(static_cast<uint64_t>(i), static_cast<uint64_t>(vocabulary))));
  return cut_into_chunks(tokens, {.length = length}, {});
}

// What the nursery's models were trained on.
ChunkedText backcopy_text(const LoadedModel& model, uint64_t documents) {
  const BackcopyChain chain(1);
  std::vector<TokenId> tokens;
  for (uint64_t i = 0; i < documents; ++i) {
    const std::vector<TokenId> ids = model.encode(chain.document((uint64_t{1} << 41) + i, 62));
    tokens.insert(tokens.end(), ids.begin(), ids.end());
    tokens.push_back(0);
  }
  return cut_into_chunks(tokens, {.length = 64}, {});
}

double nll_with(const LoadedModel& model, const ChunkedText& text, const std::string& intervention) {
  EvaluationRequest request{.text = text};
  if (!intervention.empty()) request.interventions = {parse_intervention(intervention, model.config())};
  return evaluate(model, request).perplexity.nll;
}

// The slope of the exact effect of scaling a head's gate, from both sides.
double slope_of_scaling(const LoadedModel& model, const ChunkedText& text, const GateSite& site,
                        int64_t head) {
  constexpr double kStep = 0.02;
  const bool has_heads = site.heads > 1;
  const auto scaled = [&](double factor) {
    return nll_with(model, text,
                    fmt::format("layers.{}.{} scale={}{}", site.layer, site.tap, factor,
                                has_heads ? fmt::format(" heads={}", head) : ""));
  };
  return (scaled(1 + kStep) - scaled(1 - kStep)) / (2 * kStep);
}

class GateEstimatesTest : public testing::Test {
 protected:
  Engine engine_;
};

// Closing is the whole way from the value down: scaling by 1 + e is -e of it.
void expect_slopes(const LoadedModel& model, const ChunkedText& text) {
  const GateEstimates estimates = estimate_gates(model, {.text = text, .actions = {GateAction::Close}});
  EXPECT_NEAR(estimates.nll, nll_with(model, text, ""), 1e-5);
  for (const GateSite& site : gate_sites(model.config())) {
    const ActionEstimates* list = estimates.find(site.tap, GateAction::Close, EstimateMethod::FirstOrder);
    ASSERT_NE(list, nullptr) << site.tap;
    const auto layer = std::ranges::find(list->layers, site.layer, &LayerEstimate::layer);
    ASSERT_NE(layer, list->layers.end());
    double sum = 0;
    for (int64_t head = 0; head < site.heads; ++head) {
      const double slope = slope_of_scaling(model, text, site, head);
      const double estimate = layer->heads[static_cast<size_t>(head)].nll;
      // The step's third order and f32 losses leave this much.
      EXPECT_NEAR(-estimate, slope, 2e-4 + 0.02 * std::abs(slope))
          << site.tap << " of layer " << site.layer << ", head " << head;
      sum += estimate;
    }
    EXPECT_NEAR(layer->whole.nll, sum, 1e-12);
  }
}

TEST_F(GateEstimatesTest, of_first_order_are_the_slope_of_the_exact_effect_at_every_position) {
  const LoadedModel model(engine_, golden_directory("variants/all_positions"));
  expect_slopes(model, scattered_text(model.config().vocabulary, 2, 12));
}

TEST_F(GateEstimatesTest, of_first_order_are_the_slope_of_the_exact_effect_in_a_trained_model) {
  const LoadedModel model(engine_, golden_directory("nursery/headwise"));
  expect_slopes(model, backcopy_text(model, 2));
}

TEST_F(GateEstimatesTest, of_gates_that_are_added_or_shared_are_slopes_too) {
  for (const char* name :
       {"variants/g1_add_silu", "variants/g1_headwise_shared", "variants/g1_g2_by_layer"}) {
    const LoadedModel model(engine_, golden_directory(name));
    expect_slopes(model, scattered_text(model.config().vocabulary, 1, 10));
  }
}

TEST_F(GateEstimatesTest, by_integrated_gradients_add_up_to_the_effect_of_changing_all_gates) {
  const LoadedModel model(engine_, golden_directory("nursery/headwise"));
  const ChunkedText text = backcopy_text(model, 2);
  const GateEstimates estimates = estimate_gates(model, {.text = text, .steps = 16});
  EXPECT_EQ(estimates.passes, 1 + 2 * 16);
  const double unbroken = nll_with(model, text, "");
  for (const auto& [action, spec] :
       {std::pair{GateAction::Open, "attn.gate set=1"}, std::pair{GateAction::Close, "attn.gate set=0"}}) {
    const double exact = nll_with(model, text, spec) - unbroken;
    const double first = estimates.find("attn.gate", action, EstimateMethod::FirstOrder)->all.nll;
    const double integrated = estimates.find("attn.gate", action, EstimateMethod::Integrated)->all.nll;
    EXPECT_GT(std::abs(exact), 0.1) << spec << " does something";
    EXPECT_NEAR(integrated, exact, 0.02 * std::abs(exact)) << spec;
    EXPECT_LT(std::abs(integrated - exact), std::abs(first - exact)) << spec << " is not linear";
  }
}

TEST_F(GateEstimatesTest, of_a_mean_lie_between_closing_and_opening) {
  const LoadedModel model(engine_, golden_directory("variants/g1_elementwise"));
  GateEstimateRequest request{.text = scattered_text(model.config().vocabulary, 1, 10),
                              .actions = {GateAction::Open, GateAction::Close, GateAction::Mean}};
  for (const GateSite& site : gate_sites(model.config()))
    request.means.push_back({site.tap, site.layer, {0.25F}});
  const GateEstimates estimates = estimate_gates(model, request);
  const auto all = [&](GateAction action) {
    return estimates.find("attn.gate", action, EstimateMethod::FirstOrder)->all.nll;
  };
  const double expected = 0.75 * all(GateAction::Close) + 0.25 * all(GateAction::Open);
  EXPECT_NEAR(all(GateAction::Mean), expected, 1e-6);
  // The same by head, and by channel.
  for (GateMean& mean : request.means) mean.values.assign(static_cast<size_t>(model.config().heads), 0.25F);
  EXPECT_EQ(to_json(estimate_gates(model, request)), to_json(estimates));
}

TEST_F(GateEstimatesTest, are_bitwise_the_same_for_any_number_of_threads_and_with_kept_activations) {
  const auto json = [](int threads, Activations activations) {
    Engine engine({.threads = threads});
    const LoadedModel model(engine, golden_directory("nursery/headwise"));
    return to_json(
        estimate_gates(model, {.text = backcopy_text(model, 2), .steps = 2, .activations = activations}));
  };
  const auto expected = json(1, Activations::Recompute);
  EXPECT_EQ(json(2, Activations::Recompute), expected);
  EXPECT_EQ(json(2, Activations::Keep), expected);
}

TEST_F(GateEstimatesTest, give_no_weight_a_gradient_whatever_its_type) {
  for (const DType dtype : {DType::F32, DType::BF16}) {
    const LoadedModel model(engine_, golden_directory("nursery/headwise"), {.dtype = dtype});
    estimate_gates(model, {.text = backcopy_text(model, 1), .steps = 1});
    for (const NamedParameter& named : model.decoder().parameters())
      EXPECT_FALSE(named.parameter->grad.defined()) << named.parameter->name;
  }
}

TEST_F(GateEstimatesTest, with_weights_in_bf16_are_close_to_those_in_f32) {
  const auto heads = [&](DType dtype) {
    const LoadedModel model(engine_, golden_directory("nursery/headwise"), {.dtype = dtype});
    const GateEstimates estimates =
        estimate_gates(model, {.text = backcopy_text(model, 2), .actions = {GateAction::Close}});
    std::vector<double> effects;
    for (const LayerEstimate& layer : estimates.estimates.front().layers)
      for (const EstimatedEffect& head : layer.heads) effects.push_back(head.nll);
    return effects;
  };
  const std::vector<double> f32 = heads(DType::F32), bf16 = heads(DType::BF16);
  double largest = 0;
  for (const double effect : f32) largest = std::max(largest, std::abs(effect));
  for (size_t i = 0; i < f32.size(); ++i) EXPECT_NEAR(bf16[i], f32[i], 0.03 * largest) << i;
}

TEST_F(GateEstimatesTest, have_intervals_over_chunks_and_may_take_some_of_them) {
  const LoadedModel model(engine_, golden_directory("nursery/headwise"));
  const ChunkedText text = backcopy_text(model, 4);
  const GateEstimates all = estimate_gates(model, {.text = text});
  const EstimatedEffect& effect = all.estimates.front().all;
  ASSERT_TRUE(effect.ci95.has_value());
  EXPECT_LE(effect.ci95->low, effect.nll);
  EXPECT_GE(effect.ci95->high, effect.nll);
  const GateEstimates one = estimate_gates(model, {.text = text, .chunks = {2}});
  EXPECT_EQ(one.chunks, 1);
  EXPECT_EQ(one.tokens, 63);
  EXPECT_FALSE(one.estimates.front().all.ci95.has_value());
}

// Of a pass over 64 tokens through so many layers.
size_t memory_of_estimate(int64_t layers, int64_t steps) {
  Engine engine;
  const TemporaryDirectory directory;
  ModelConfig config = small_model(GateLayout::Separate, {{.init_std = 0.5}});
  config.layers = layers;
  write_random_model({.config = config, .dtype = StoredType::BF16}, engine.threads(), directory.path() / "m");
  const LoadedModel model(engine, directory.path() / "m", {.dtype = DType::BF16});
  engine.pool().reset_high_water();
  const size_t before = engine.pool().stats().in_use;
  estimate_gates(model, {.text = scattered_text(config.vocabulary, 1, 65), .steps = steps});
  return engine.pool().stats().high_water - before;
}

TEST_F(GateEstimatesTest, keep_a_stream_per_layer_and_no_more) {
  constexpr size_t kStream = 64 * 32 * sizeof(float);
  const size_t first_order = memory_of_estimate(12, 0) - memory_of_estimate(4, 0);
  EXPECT_LE(first_order, 8 * kStream + 8 * kStream / 4);
  // On a path, what the gates apply as well.
  const size_t on_path = memory_of_estimate(12, 1) - memory_of_estimate(4, 1);
  EXPECT_LE(on_path, 2 * (8 * kStream + 8 * kStream / 4));
}

TEST_F(GateEstimatesTest, are_refused_where_there_is_nothing_to_differentiate) {
  const auto baseline = golden_directory("nursery/baseline"), headwise = golden_directory("nursery/headwise");
  const LoadedModel ungated(engine_, baseline), quantised(engine_, headwise, {.dtype = DType::I8}),
      model(engine_, headwise);
  const ChunkedText text = backcopy_text(model, 1);
  EXPECT_ERROR(estimate_gates(ungated, {.text = text}), ErrorKind::Usage,
               baseline.string() + ": the model has no gates to estimate the effect of");
  EXPECT_ERROR(estimate_gates(quantised, {.text = text}), ErrorKind::Usage,
               headwise.string() + ": no gradient passes weights in int8 (--dtype bf16 has one)");
  EXPECT_ERROR(estimate_gates(model, {.text = text, .actions = {GateAction::Mean}}), ErrorKind::Usage,
               "mean of layers.0.attn.gate: missing");
  EXPECT_ERROR(
      estimate_gates(
          model,
          {.text = text, .actions = {GateAction::Mean}, .means = {{"attn.gate", 0, {1, 2, 3, 4, 5, 6, 7}}}}),
      ErrorKind::Usage,
      fmt::format("mean of layers.0.attn.gate: wrong number of values: expected 1, {0} or {0}, got 7",
                  model.config().heads));
}

TEST_F(GateEstimatesTest, stop_when_they_are_told_to) {
  const LoadedModel model(engine_, golden_directory("nursery/headwise"));
  EXPECT_ERROR(estimate_gates(model, {.text = backcopy_text(model, 1)}, {.cancelled = [] { return true; }}),
               ErrorKind::Interrupted, "interrupted");
}

TEST(EstimateAgreement, ranks_heads_against_heads_and_layers_against_layers) {
  const ActionEstimates estimates{.tap = "attn.gate",
                                  .layers = {{.layer = 0, .whole = {0.3}, .heads = {{0.1}, {0.2}}},
                                             {.layer = 3, .whole = {0.5}, .heads = {{0.4}, {0.1}}}}};
  const std::vector<ExactEffect> exact = {
      {.layer = 0, .head = 0, .nll = 1},  {.layer = 0, .head = 1, .nll = 2},
      {.layer = 3, .head = 0, .nll = 3},  {.layer = 0, .nll = 0.3},
      {.layer = 3, .nll = 0.7},           {.layer = 2, .head = 0, .nll = 9},
      {.layer = 3, .head = 5, .nll = 9.0}};
  const EstimateAgreement heads = head_agreement(estimates, exact);
  EXPECT_EQ(heads.count, 3) << "what the estimates do not have is left out";
  EXPECT_NEAR(heads.rank_correlation.value(), 1, 1e-12);
  EXPECT_NEAR(heads.mean_error.value(), (0.9 + 1.8 + 2.6) / 3, 1e-12);
  const EstimateAgreement layers = layer_agreement(estimates, exact);
  EXPECT_EQ(layers.count, 2);
  EXPECT_FALSE(layers.rank_correlation.has_value()) << "two say nothing";
  EXPECT_NEAR(layers.mean_error.value(), 0.1, 1e-12);
}

}  // namespace
}  // namespace sluice
