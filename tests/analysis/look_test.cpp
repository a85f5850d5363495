#include "sluice/analysis/look.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/analysis/comparison.h"
#include "sluice/analysis/first_words.h"
#include "sluice/analysis/gate_agreement.h"
#include "tests/analysis/planted_model.h"
#include "tests/base/expect_error.h"
#include "tests/infer/byte_model.h"

namespace sluice {
namespace {

constexpr TokenId kBegin = 0, kTrigger = 7;

// Layer 0: head 0 is constant, head 1 nearly closed at the token that begins every chunk. Layer 1: head 0
// opens on one token alone, head 1 is constant.
double planted(int64_t layer, int64_t head, TokenId token) {
  if (layer == 0) return head == 0 ? 0.25 : token == kBegin ? 0.05 : 0.5;
  if (head == 0) return token == kTrigger ? 0.95 : 0.02;
  return 0.75;
}

// 4 chunks of 9 tokens, of which the model sees 8: the first token, then two triggers and five others.
ChunkedText planted_text() {
  std::vector<TokenId> tokens;
  for (TokenId chunk = 0; chunk < 4; ++chunk)
    for (const TokenId id : {kBegin, TokenId{1}, kTrigger, TokenId{2}, TokenId{3}, kTrigger, TokenId{4},
                             TokenId{5}, static_cast<TokenId>(8 + chunk)})
      tokens.push_back(id);
  return cut_into_chunks(tokens, {.length = 9}, {});
}

class PlantedLook : public testing::Test {
 protected:
  PlantedLook() { write_planted_model(path(), {.gate = planted}); }

  std::filesystem::path path() const { return directory_.path() / "planted"; }

  Look looked(int64_t key = 0) {
    const LoadedModel model(engine_, path());
    return look(model, {.text = planted_text(), .key = key});
  }

  Engine engine_;
  TemporaryDirectory directory_;
};

TEST_F(PlantedLook, finds_the_gates_that_were_planted) {
  const Look look = looked();
  EXPECT_EQ(look.tokens, 32);
  EXPECT_EQ(look.sequences, 4);
  ASSERT_EQ(look.gates.size(), 1U);
  const GateMeasure& gate = look.gates.front();
  EXPECT_EQ(gate.position, "g1");
  ASSERT_EQ(gate.layers.size(), 2U);
  const auto mean = [&](size_t layer, size_t head) { return gate.layers[layer].by_head[head].all.mean(); };
  EXPECT_NEAR(mean(0, 0), 0.25, 1e-6);
  EXPECT_NEAR(mean(0, 1), (0.05 + 7 * 0.5) / 8, 1e-6);
  EXPECT_NEAR(mean(1, 0), (2 * 0.95 + 6 * 0.02) / 8, 1e-6);
  EXPECT_NEAR(mean(1, 1), 0.75, 1e-6);
  EXPECT_NEAR(gate.layers[1].by_head[0].closed_share(), 6.0 / 8, 1e-12);
  EXPECT_NEAR(gate.values().closed(), (4 + 24) / 128.0, 1e-12);
  EXPECT_NEAR(gate.values().open(), 8 / 128.0, 1e-12);
}

TEST_F(PlantedLook, tells_the_first_token_from_the_others) {
  const GateMeasure gate = looked().gates.front();
  EXPECT_NEAR(gate.layers[0].first.mean(), (0.25 + 0.05) / 2, 1e-6);
  EXPECT_NEAR(gate.layers[0].others.mean(), (0.25 + 0.5) / 2, 1e-6);
  const Estimate ratio = gate.layers[0].first_ratio;
  EXPECT_NEAR(ratio.value, 2.5, 1e-5);
  ASSERT_TRUE(ratio.ci95.has_value());
  EXPECT_NEAR(ratio.ci95->low, 2.5, 1e-5) << "all sequences are alike";
}

TEST_F(PlantedLook, finds_the_token_that_opens_a_head) {
  const Look look = looked();
  const GateHeadRelations& head = look.relations[1].by_head[0];
  EXPECT_EQ(head.extremes.open.moments().front().token, kTrigger);
  EXPECT_NEAR(head.extremes.open.moments().front().gate, 0.95, 1e-6);
  EXPECT_EQ(look.relations[0].by_head[1].extremes.closed.moments().front().token, kBegin);
  EXPECT_EQ(head.extremes.open.moments().size(), GateExtremes::kKept) << "each of another token";
  EXPECT_TRUE(std::isnan(look.relations[0].by_head[0].correlation(GateRelation::Frequency))) << "constant";
  EXPECT_GT(head.correlation(GateRelation::Frequency), 0.9) << "the trigger is twice as frequent";
}

// Queries and keys are nothing, so attention is uniform; the stream stays the embedding.
TEST_F(PlantedLook, finds_uniform_attention_and_one_hot_activations) {
  const Look look = looked();
  double floor = 0;
  for (int i = 1; i <= 8; ++i) floor += 1.0 / i / 8;
  EXPECT_NEAR(look.key_floor, floor, 1e-12);
  EXPECT_NEAR(look.sink.value, floor, 1e-6);
  EXPECT_NEAR(look.late_sink.value, (1.0 / 5 + 1.0 / 6 + 1.0 / 7 + 1.0 / 8) / 4, 1e-6);
  EXPECT_DOUBLE_EQ(look.activations.front().mean(), 1.0);
  EXPECT_EQ(look.activations.front().layers[0].largest.channel, kBegin);
  EXPECT_DOUBLE_EQ(sink_rate(look.attention, 0.3), 1.0) << "short sequences: " << floor;
  EXPECT_DOUBLE_EQ(sink_rate(look.attention, 0.5), 0.0);
  EXPECT_NEAR(strongest_head(look.attention).sink, floor, 1e-6) << "all heads have the same";
}

TEST_F(PlantedLook, measures_attention_on_any_key) {
  const Look look = looked(3);
  EXPECT_NEAR(look.sink.value, (1.0 / 4 + 1.0 / 5 + 1.0 / 6 + 1.0 / 7 + 1.0 / 8) / 5, 1e-6);
  EXPECT_NEAR(look.key_floor, look.sink.value, 1e-6);
  EXPECT_ERROR(looked(8), ErrorKind::Usage,
               "--key: no chunk of the text has this position: expected below 8, got 8");
}

TEST_F(PlantedLook, is_the_same_on_any_number_of_threads) {
  const auto json = [&](int threads) {
    Engine engine({.threads = threads});
    const LoadedModel model(engine, path());
    return to_json(look(model, {.text = planted_text()})).dump();
  };
  EXPECT_EQ(json(1), json(2));
}

TEST_F(PlantedLook, finds_both_halves_of_the_text_alike) {
  const GateAgreement halves = split_half(looked().gates.front());
  EXPECT_DOUBLE_EQ(halves.dynamic, 1.0) << "the same channels";
  EXPECT_TRUE(std::isnan(halves.open)) << "no channel is always open";
  EXPECT_NEAR(halves.heads, 1.0, 1e-12);
}

// The token that begins every chunk stands nowhere else, so nothing can be said of it against itself.
TEST_F(PlantedLook, knows_the_mean_gate_of_every_token) {
  const GatesByToken tokens = looked().by_token;
  EXPECT_NEAR(tokens.at(kTrigger).all().mean(), (0.25 + 0.5 + 0.95 + 0.75) / 4, 1e-6);
  EXPECT_NEAR(tokens.at(kBegin).first.mean(), (0.25 + 0.05 + 0.02 + 0.75) / 4, 1e-6);
  EXPECT_EQ(tokens.at(kTrigger).elsewhere().count, 8);
  EXPECT_EQ(first_against_itself(tokens).tokens, 0);
  const std::vector<RankedToken> ranked = ranked_tokens(tokens);
  ASSERT_EQ(ranked.size(), 1U) << "the others occur " << kOftenEnough - 1 << " times";
  EXPECT_EQ(ranked.front().token, kTrigger);
}

TEST_F(PlantedLook, finds_the_same_extremes_in_both_halves) {
  const Look look = looked();
  const ExtremesAgreement halves = split_half(look.relations);
  EXPECT_DOUBLE_EQ(halves.open, 1.0);
  EXPECT_DOUBLE_EQ(halves.closed, 1.0);
  EXPECT_DOUBLE_EQ(sink_set_agreement(look.attention, 0.3), 1.0);
  EXPECT_TRUE(std::isnan(sink_set_agreement(look.attention, 0.5))) << "no head is above";
}

TEST_F(PlantedLook, sees_a_text_as_it_sees_the_text_itself) {
  const GateMeasure gate = looked().gates.front();
  const GateAgreement same = agreement(gate, gate);
  EXPECT_NEAR(same.heads, 1.0, 1e-12);
  EXPECT_NEAR(same.layers, 1.0, 1e-12);
  EXPECT_NEAR(same.head_numbers, 1.0, 1e-12);
}

TEST(FirstWords, begin_differently_and_do_not_overlap) {
  std::vector<TokenId> tokens;
  for (TokenId i = 0; i < 400; ++i) tokens.push_back(i % 40);
  const ChunkedText text = cut_into_chunks(tokens, {.length = 100}, {});
  const ChunkedText words = first_words(text, 6);
  ASSERT_EQ(words.chunks(), 6);
  std::vector<TokenId> begun;
  for (int64_t i = 0; i < words.chunks(); ++i) begun.push_back(words.chunk(i).ids.front());
  EXPECT_EQ(begun, (std::vector<TokenId>{0, 17, 34, 11, 28, 5}));
  EXPECT_EQ(words.chunk(0).ids.size(), static_cast<size_t>(kFirstWordTokens + 1));
  EXPECT_BAD_INPUT(
      first_words(cut_into_chunks({1, 2, 3}, {.length = 3}, {}), 6),
      "--first-words: the text is too short: expected two sequences of 17 tokens that begin differently");
}

TEST_F(PlantedLook, compared_with_itself_does_not_differ) {
  const StudyRequest request{.models = {path().string(), path().string()},
                             .source = planted_text().tokens,
                             .chunks = {.length = 9},
                             .text = TextMatch::Same,
                             .prompt = StudyRequest::Prompt{.tokens = 5}};
  const ModelComparison comparison = compare_models(study_models(engine_, request));
  ASSERT_EQ(comparison.differences.size(), 5U);
  for (const PairedDifference& difference : comparison.differences) {
    EXPECT_DOUBLE_EQ(difference.difference.value, 0) << difference.figure;
    EXPECT_DOUBLE_EQ(difference.p, 1) << difference.figure;
  }
  EXPECT_EQ(comparison.study.models[0].prompt.ids.size(), 5U);
  EXPECT_NE(comparison.study.models[0].name, comparison.study.models[1].name);
}

class Looks : public WithByteModel {};

// What eval says of the same chunks.
TEST_F(Looks, have_the_perplexity_of_an_evaluation) {
  const ChunkedText text =
      read_chunks(model_, std::string("some text that is no repetition of anything"), {.length = 12});
  EXPECT_EQ(look(model_, {.text = text}).perplexity.nll, evaluate(model_, {.text = text}).perplexity.nll);
}

TEST_F(Looks, see_what_an_intervention_left) {
  const ChunkedText text =
      read_chunks(model_, std::string("some text that is no repetition of anything"), {.length = 12});
  const std::vector<std::string> changes = {"attn.gate set=1"};
  const Look open =
      look(model_, {.text = text, .interventions = parse_interventions(changes, model_.config())});
  EXPECT_DOUBLE_EQ(open.gates.front().values().moments().mean(), 1.0);
  EXPECT_DOUBLE_EQ(open.gates.front().values().open(), 1.0);
}

TEST_F(Looks, at_a_baseline_have_everything_but_gates) {
  const LoadedModel model(engine_, golden("tiny_baseline"), {.tokenizer = "bytes"});
  const Look look = sluice::look(model, {.text = read_chunks(model, std::string("a baseline has no gate"))});
  EXPECT_TRUE(look.gates.empty());
  EXPECT_TRUE(look.relations.empty());
  EXPECT_FALSE(look.attention.empty());
  EXPECT_GT(look.activations.front().mean(), 0);
}

}  // namespace
}  // namespace sluice
