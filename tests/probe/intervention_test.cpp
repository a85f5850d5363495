// What interventions change, and what they leave alone.
#include "sluice/probe/intervention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sluice/eval/perplexity.h"
#include "sluice/infer/generator.h"
#include "sluice/probe/probe_chain.h"
#include "sluice/probe/recorder.h"
#include "sluice/probe/trace.h"
#include "tests/model/small_model.h"

namespace sluice {
namespace {

ModelConfig gated_model(std::vector<GateSpec> gates) {
  ModelConfig config = small_model(GateLayout::Separate, std::move(gates));
  config.layers = 3;
  config.positions = 256;
  config.tied = true;
  return config;
}

constexpr double kSpread = 0.5;  // of the gate's weights: gates that differ from token to token

ModelConfig gated_model() {
  return gated_model({{.init_std = kSpread}});
}

ModelConfig with_a_gate_everywhere() {
  std::vector<GateSpec> gates;
  for (const auto position :
       {GatePosition::G1, GatePosition::G2, GatePosition::G3, GatePosition::G4, GatePosition::G5}) {
    gates.push_back({.position = position, .init_std = kSpread});
  }
  return gated_model(std::move(gates));
}

// All different up to 50 of them, so that rows can be told from each other.
std::vector<int32_t> some_ids(int64_t count) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i) ids.push_back(static_cast<int32_t>(i * 7 % 50));
  return ids;
}

std::vector<float> elements(const Tensor& tensor) {
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

struct Element {
  int64_t row, head, channel;
};

// What the interventions of a pass were given at each tap, and what they made of it.
struct ProbedPass {
  Recorder before{{TapPattern("*")}}, after{{TapPattern("*")}};
  Tensor logits;
};

using Rule = std::function<float(const Element&, float)>;

void expect_rule(const ProbedPass& pass, const TapName& name, const Rule& rule) {
  ASSERT_EQ(pass.after.at(name).size(), 1U) << name.text();
  const Tensor& before = pass.before.at(name).front();
  const Tensor& after = pass.after.at(name).front();
  ASSERT_EQ(after.shape(), before.shape());
  const int64_t heads = before.shape().rank() == 3 ? before.shape()[1] : 1;
  const int64_t channels = before.shape()[before.shape().rank() - 1];
  for (int64_t i = 0; i < before.count(); ++i) {
    const Element element{i / channels / heads, i / channels % heads, i % channels};
    ASSERT_EQ(after.data<float>()[i], rule(element, before.data<float>()[i]))
        << name.text() << ", row " << element.row << ", head " << element.head << ", channel "
        << element.channel;
  }
}

// Taps where something was replaced.
std::vector<std::string> changed_taps(const ProbedPass& pass) {
  std::vector<std::string> names;
  for (const auto& [place, values] : pass.before.values()) {
    const TapName name{place.first, place.second};
    if (elements(values.front()) != elements(pass.after.at(name).front())) names.push_back(name.text());
  }
  return names;
}

class Interventions : public testing::Test {
 protected:
  void use_model(const ModelConfig& config) {
    decoder_ = std::make_unique<Decoder>(config);
    decoder_->initialise(engine_, Random(4));
  }

  Interventions() { use_model(gated_model()); }

  Intervener intervener(const std::vector<std::string>& texts) const {
    std::vector<Intervention> interventions;
    for (const std::string& text : texts)
      interventions.push_back(parse_intervention(text, decoder_->config()));
    return Intervener(std::move(interventions));
  }

  Tensor logits_of(Probe* probe, const std::vector<int64_t>& lengths) {
    const Context context{engine_, nullptr, probe};
    const Sequences sequences = Sequences::of_lengths(lengths);
    const std::vector<int32_t> ids = some_ids(sequences.tokens());
    return decoder_->logits(context, decoder_->forward(context, ids, sequences).y).value();
  }

  ProbedPass run(const std::vector<std::string>& texts, const std::vector<int64_t>& lengths = {7}) {
    ProbedPass pass;
    Intervener changes = intervener(texts);
    ProbeChain chain({&pass.before, &changes, &pass.after});
    pass.logits = logits_of(&chain, lengths);
    return pass;
  }

  Engine engine_;
  std::unique_ptr<Decoder> decoder_;
};

// A change as it is written, and what it makes of a value.
struct SimpleChange {
  std::string name, text;
  float (*turn)(float);
};

class SimpleChanges : public Interventions, public testing::WithParamInterface<SimpleChange> {};

TEST_P(SimpleChanges, touch_the_chosen_elements_of_the_chosen_layers_and_nothing_else) {
  const ProbedPass pass =
      run({"layers.0,2.attn.gate " + GetParam().text + " heads=0,2- channels=1,5-6 positions=2-4"});
  const auto chosen = [](const Element& e) {
    return e.head != 1 && (e.channel == 1 || e.channel == 5 || e.channel == 6) && e.row >= 2 && e.row <= 4;
  };
  for (const int64_t layer : {0, 2}) {
    expect_rule(pass, {layer, points::kGate},
                [&](const Element& e, float value) { return chosen(e) ? GetParam().turn(value) : value; });
  }
  EXPECT_EQ(changed_taps(pass), (std::vector<std::string>{"layers.0.attn.gate", "layers.2.attn.gate"}));
}

TEST_P(SimpleChanges, touch_everything_if_nothing_is_chosen) {
  const ProbedPass pass = run({"attn.gate " + GetParam().text});
  for (int64_t layer = 0; layer < 3; ++layer) {
    expect_rule(pass, {layer, points::kGate},
                [&](const Element&, float value) { return GetParam().turn(value); });
  }
  EXPECT_EQ(changed_taps(pass).size(), 3U);
}

TEST_P(SimpleChanges, change_what_comes_after_and_not_what_came_before) {
  const ProbedPass clean = run({});
  const ProbedPass pass = run({"layers.1.attn.gate " + GetParam().text});
  for (const TapName& name :
       {TapName{0, points::kResidual}, TapName{1, points::kMixed}, TapName{1, points::kAttentionInput}}) {
    EXPECT_EQ(elements(pass.before.at(name).front()), elements(clean.before.at(name).front())) << name.text();
  }
  for (const TapName& name : {TapName{1, points::kGated}, TapName{2, points::kAttentionInput}}) {
    EXPECT_NE(elements(pass.before.at(name).front()), elements(clean.before.at(name).front())) << name.text();
  }
  EXPECT_NE(elements(pass.logits), elements(clean.logits));
}

INSTANTIATE_TEST_SUITE_P(
    Each, SimpleChanges,
    testing::Values(SimpleChange{"set", "set=0.25", [](float) { return 0.25F; }},
                    SimpleChange{"scale", "scale=-1.5", [](float x) { return x * -1.5F; }},
                    SimpleChange{"shift", "shift=0.125", [](float x) { return x + 0.125F; }},
                    SimpleChange{"invert", "invert", [](float x) { return 1.0F - x; }}),
    [](const auto& test) { return test.param.name; });

TEST_F(Interventions, reach_every_tap_that_can_be_changed) {
  use_model(with_a_gate_everywhere());
  for (const TapPoint& point : points::kAll) {
    if (point.access == TapAccess::ReadOnly || is_of_experts(point)) continue;  // the model is dense
    const TapName name{point.place == TapPlace::Model ? TapName::kNoLayer : 1, point};
    const ProbedPass pass = run({name.text() + " scale=-2 positions=3-"});
    expect_rule(pass, name, [](const Element& e, float value) { return e.row < 3 ? value : value * -2.0F; });
    EXPECT_EQ(changed_taps(pass), std::vector<std::string>{name.text()});
  }
}

TEST_F(Interventions, of_a_headwise_gate_have_one_channel) {
  use_model(gated_model({{.form = {.granularity = Granularity::Headwise}, .init_std = kSpread}}));
  const ProbedPass pass = run({"layers.1.attn.gate set=2 heads=3"});
  EXPECT_EQ(pass.after.at({1, points::kGate}).front().shape(), (Shape{7, 4, 1}));
  expect_rule(pass, {1, points::kGate},
              [](const Element& e, float value) { return e.head == 3 ? 2.0F : value; });
}

TEST_F(Interventions, are_applied_in_their_order) {
  const ProbedPass first = run({"layers.1.attn.gate scale=2", "layers.1.attn.gate shift=1"});
  expect_rule(first, {1, points::kGate}, [](const Element&, float value) { return value * 2.0F + 1.0F; });
  const ProbedPass second = run({"layers.1.attn.gate shift=1", "layers.1.attn.gate scale=2"});
  expect_rule(second, {1, points::kGate}, [](const Element&, float value) { return (value + 1.0F) * 2.0F; });
}

TEST_F(Interventions, leave_the_model_as_it_is) {
  const std::vector<float> clean = elements(run({}).logits);
  run({"embedding set=1", "attn.v set=0", "attn.gate noise=1"});
  EXPECT_EQ(elements(run({}).logits), clean);
}

TEST_F(Interventions, that_put_the_gate_s_own_value_in_its_place_change_nothing) {
  use_model(gated_model({{.init_std = 0.0}}));  // sigmoid(0) for every token
  const std::vector<float> clean = elements(logits_of(nullptr, {7}));
  const std::vector<float> same = elements(run({"attn.gate set=0.5"}).logits);
  for (size_t i = 0; i < clean.size(); ++i) ASSERT_NEAR(same[i], clean[i], 1e-6) << i;
}

TEST_F(Interventions, positions_count_in_each_sequence) {
  const ProbedPass pass = run({"layers.1.attn.gate set=9 positions=0,4"}, {3, 5});
  expect_rule(pass, {1, points::kGate}, [](const Element& e, float value) {
    return e.row == 0 || e.row == 3 || e.row == 7 ? 9.0F : value;
  });
}

TEST_F(Interventions, positions_count_from_the_start_of_the_text_when_there_is_a_cache) {
  ProbedPass pass;
  Intervener changes = intervener({"layers.1.attn.gate set=9 positions=1,5"});
  ProbeChain chain({&pass.before, &changes, &pass.after});
  Generator({engine_, nullptr, &chain}, *decoder_).generate(some_ids(4), {.max_tokens = 4});
  const std::vector<Tensor>& before = pass.before.at({1, points::kGate});
  const std::vector<Tensor>& after = pass.after.at({1, points::kGate});
  ASSERT_EQ(after.size(), 4U) << "the prompt of four tokens, then three at positions 4, 5 and 6";
  const std::vector<float> nines(32, 9.0F);
  std::vector<float> prompt = elements(before[0]);
  std::copy(nines.begin(), nines.end(), prompt.begin() + 32);
  EXPECT_EQ(elements(after[0]), prompt) << "position 1 of 0 to 3";
  EXPECT_EQ(elements(after[1]), elements(before[1])) << "position 4";
  EXPECT_EQ(elements(after[2]), nines) << "position 5";
  EXPECT_EQ(elements(after[3]), elements(before[3])) << "position 6";
}

TEST_F(Interventions, of_logits_decide_what_is_generated) {
  const auto generated = [&](const std::string& text) {
    Intervener changes = intervener({text});
    return Generator({engine_, nullptr, &changes}, *decoder_).generate(some_ids(5), {.max_tokens = 3}).ids;
  };
  const std::vector<int32_t> clean =
      Generator({engine_}, *decoder_).generate(some_ids(5), {.max_tokens = 3}).ids;
  ASSERT_EQ(std::ranges::count(clean, 7), 0) << "choose another token for this test";
  EXPECT_EQ(generated("logits set=1000 channels=7"), (std::vector<int32_t>{7, 7, 7}));
  EXPECT_EQ(generated("logits set=1000 channels=7 positions=0-3"), clean) << "nothing is drawn from those";
  EXPECT_EQ(generated("logits set=1000 channels=7 positions=4")[0], 7) << "the prompt's last token";
  EXPECT_EQ(generated("logits set=1000 channels=7 positions=5")[0], clean[0]);
  EXPECT_EQ(generated("logits set=1000 channels=7 positions=5")[1], 7);
}

// Logits are made some rows at a time; interventions see the whole text all the same.
TEST_F(Interventions, of_logits_decide_the_likelihood_of_a_long_text) {
  const std::vector<int32_t> ids = some_ids(200);
  const auto nll = [&](const std::string& text) {
    Intervener changes = intervener({text});
    return chunk_nll({engine_, nullptr, &changes}, *decoder_, ids).sum;
  };
  const double uniform = std::log(50.0);
  EXPECT_NEAR(nll("logits set=0"), 199 * uniform, 1e-3);
  const double clean = chunk_nll({engine_}, *decoder_, ids).sum;
  const double last_half = nll("logits set=0 positions=100-");
  EXPECT_NEAR(last_half - nll("logits set=0 positions=100-198"), 0.0, 1e-9);
  // What the second half costs with a uniform guess, beside the first half as it was.
  const double first_half = chunk_nll({engine_}, *decoder_, std::span(ids).first(101)).sum;
  EXPECT_NEAR(last_half, first_half + 99 * uniform, 1e-3);
  EXPECT_NE(last_half, clean);
  EXPECT_NE(nll("logits noise=0.5"), clean);
}

TEST_F(Interventions, are_part_of_a_trace) {
  Intervener changes = intervener({"layers.1.attn.gate set=0.25", "layers.2.resid scale=0"});
  const Trace traced = trace({engine_, nullptr, &changes}, *decoder_, some_ids(6));
  const int64_t layer = 6 * 4 * 8;
  for (int64_t i = 0; i < layer; ++i) {
    ASSERT_NE(traced.gates.data<float>()[i], 0.25F);
    ASSERT_EQ(traced.gates.data<float>()[layer + i], 0.25F);
  }
  for (int64_t i = 0; i < 6 * 32; ++i) ASSERT_EQ(traced.hidden.data<float>()[3 * 6 * 32 + i], 0.0F);
}

TEST_F(Interventions, cannot_change_probabilities) {
  Intervener changes({Intervention{.tap = TapPattern("attn.probs")}});
  EXPECT_THROW(logits_of(&changes, {4}), AssertionError);
}

// Watches nothing, and counts what it is told nevertheless.
class Bystander : public Probe {
 public:
  void begin_pass(const PassTokens& tokens) override {
    ++passes;
    sequences = tokens.sequences.count();
  }
  bool wants(const TapName&) const override { return false; }
  Tensor visit(const Context&, const TapName&, const Tensor& value) override {
    ++visits;
    return value;
  }

  int passes = 0, visits = 0;
  int64_t sequences = 0;
};

TEST_F(Interventions, nothing_is_visited_that_nobody_wants) {
  const std::vector<float> clean = elements(logits_of(nullptr, {4, 3}));
  Bystander bystander;
  EXPECT_EQ(elements(logits_of(&bystander, {4, 3})), clean);
  EXPECT_EQ(bystander.passes, 1);
  EXPECT_EQ(bystander.sequences, 2);
  EXPECT_EQ(bystander.visits, 0);
  Intervener none({});
  EXPECT_EQ(elements(logits_of(&none, {4, 3})), clean);
  ProbeChain nobody({nullptr, &none, nullptr});
  EXPECT_EQ(elements(logits_of(&nobody, {4, 3})), clean);
}

TEST_F(Interventions, watching_changes_no_logits) {
  const std::vector<float> clean = elements(logits_of(nullptr, {7}));
  const std::vector<float> watched = elements(run({}).logits);
  for (size_t i = 0; i < clean.size(); ++i) ASSERT_NEAR(watched[i], clean[i], 1e-6) << i;
}

}  // namespace
}  // namespace sluice
