#include "sluice/eval/evaluate.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

#include "sluice/base/json.h"
#include "tests/base/expect_error.h"
#include "tests/infer/byte_model.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

const std::string kText = "some text that is no repetition of what was there before";

class Evaluations : public WithByteModel {
 protected:
  EvaluationRequest request(const ChunkOptions& chunks = {}, const std::vector<std::string>& changes = {}) {
    return {.text = read_chunks(model_, kText, chunks),
            .interventions = parse_interventions(changes, model_.config())};
  }
};

TEST_F(Evaluations, give_the_likelihood_of_the_official_code) {
  for (const char* name : {"tiny_baseline", "tiny_gate_headwise", "tiny_gate_elementwise"}) {
    LoadedModel model(engine_, golden(name));
    const SafetensorsFile file(golden(name) / "expected.safetensors");
    const Evaluation evaluation = evaluate(model, {.text = read_chunks(model, ids_of(file))});
    EXPECT_NEAR(evaluation.perplexity.nll, Json::load(golden(name) / "expected.json").number("nll"), 1e-4);
    EXPECT_EQ(evaluation.perplexity.tokens, 23);
    EXPECT_FALSE(evaluation.bits_per_byte.has_value()) << "of ids";
  }
}

TEST_F(Evaluations, have_a_result_for_each_chunk) {
  const Evaluation evaluation = evaluate(model_, request({.length = 10}));
  ASSERT_EQ(evaluation.chunks.size(), 5U);
  const ChunkedText text = read_chunks(model_, kText, {.length = 10});
  double sum = 0;
  for (int64_t i = 0; i < 5; ++i) {
    const ChunkNll alone = chunk_nll({engine_}, model_.decoder(), text.chunk(i).ids);
    EXPECT_NEAR(evaluation.chunks[static_cast<size_t>(i)].sum, alone.sum, 1e-9);
    sum += alone.sum;
  }
  EXPECT_NEAR(evaluation.perplexity.nll, sum / 45, 1e-9);
  EXPECT_LT(evaluation.perplexity.ci95->low, evaluation.perplexity.ppl);
  EXPECT_GT(evaluation.perplexity.ci95->high, evaluation.perplexity.ppl);
}

// Validation runs sequences side by side; each must get what it would get alone.
TEST_F(Evaluations, of_sequences_in_one_pass_are_those_of_each_alone) {
  const std::vector<TokenId> ids = model_.encode(kText);
  const Sequences sequences = Sequences::of_lengths({7, 20, 1});
  const std::vector<ChunkNll> together = sequence_nlls(
      {engine_}, model_.decoder(),
      {.inputs = std::span(ids).first(28), .targets = std::span(ids).subspan(1, 28), .sequences = sequences});
  ASSERT_EQ(together.size(), 3U);
  for (size_t s = 0; s < 3; ++s) {
    const auto begin = static_cast<size_t>(sequences.starts()[s]);
    const auto length = static_cast<size_t>(sequences.length(static_cast<int64_t>(s)));
    const ChunkNll alone = chunk_nll({engine_}, model_.decoder(), std::span(ids).subspan(begin, length + 1));
    EXPECT_NEAR(together[s].sum, alone.sum, 1e-5);
    EXPECT_EQ(together[s].tokens, alone.tokens);
  }
}

// A token after the other, each in a pass of its own over the chunk that has to predict it.
TEST_F(Evaluations, of_overlapping_chunks_predict_every_token_once) {
  const std::vector<TokenId> ids = model_.encode(kText);
  constexpr int64_t kLength = 12, kStride = 5;
  double sum = 0;
  for (int64_t token = 1; token < std::ssize(ids); ++token) {
    // The first chunk that has the token.
    const int64_t chunk = token < kLength ? 0 : (token - kLength) / kStride + 1;
    const auto begin = static_cast<size_t>(chunk * kStride), end = static_cast<size_t>(token) + 1;
    const std::span<const TokenId> seen = std::span(ids).subspan(begin, end - begin);
    sum += chunk_nll({engine_}, model_.decoder(), seen).sum;
    if (seen.size() > 2) sum -= chunk_nll({engine_}, model_.decoder(), seen.first(seen.size() - 1)).sum;
  }
  const Evaluation evaluation = evaluate(model_, request({.length = kLength, .stride = kStride}));
  EXPECT_EQ(evaluation.perplexity.tokens, std::ssize(ids) - 1);
  EXPECT_NEAR(evaluation.perplexity.nll, sum / static_cast<double>(ids.size() - 1), 1e-5);
  EXPECT_NE(evaluation.perplexity.nll, evaluate(model_, request({.length = kLength})).perplexity.nll);
}

// Logits that a probe changes must be those of all tokens of a chunk.
TEST_F(Evaluations, of_overlapping_chunks_measure_interventions) {
  const ChunkOptions overlapping{.length = 12, .stride = 5};
  EXPECT_NEAR(evaluate(model_, request(overlapping, {"logits set=0"})).perplexity.nll, std::log(128), 1e-5);
}

TEST_F(Evaluations, tell_bits_per_byte) {
  const Evaluation evaluation = evaluate(model_, request());
  EXPECT_NEAR(*evaluation.bits_per_byte, evaluation.perplexity.nll / std::numbers::ln2, 1e-12)
      << "a token is a byte";
}

TEST_F(Evaluations, of_one_chunk_have_no_interval) {
  const ordered_json json = to_json(evaluate(model_, request()));
  EXPECT_EQ(json["chunks"], 1);
  EXPECT_TRUE(json["ci95"].is_null());
}

TEST_F(Evaluations, have_their_figures_in_json) {
  const Evaluation evaluation = evaluate(model_, request({.length = 10}));
  const ordered_json json = to_json(evaluation);
  const Perplexity& result = evaluation.perplexity;
  EXPECT_EQ(json, (ordered_json{{"dtype", "f32"},
                                {"tokens", 45},
                                {"chunks", 5},
                                {"chunk", 10},
                                {"stride", 10},
                                {"bos", "none"},
                                {"nll", result.nll},
                                {"ppl", result.ppl},
                                {"bits_per_byte", *evaluation.bits_per_byte},
                                {"ci95", {result.ci95->low, result.ci95->high}}}));
}

TEST_F(Evaluations, are_compared_on_the_same_chunks) {
  const EvaluationRequest same = request({.length = 10});
  LoadedModel small(engine_, golden("tiny_gate_elementwise"), {.dtype = DType::I8});
  const Evaluation f32 = evaluate(model_, same), int8 = evaluate(small, same);
  const Evaluation both = compared(int8, f32);
  const PerplexityDifference& difference = both.against->difference;
  EXPECT_NEAR(difference.ppl, int8.perplexity.ppl - f32.perplexity.ppl, 1e-9);
  EXPECT_LE(difference.ci95->low, difference.ppl);
  EXPECT_GE(difference.ci95->high, difference.ppl);
  const ordered_json json = to_json(both);
  EXPECT_EQ(json["dtype"], "int8");
  EXPECT_EQ(json["against"]["dtype"], "f32");
  EXPECT_EQ(json["against"]["nll"], f32.perplexity.nll);
  EXPECT_EQ(json["difference"]["ci95"][0], difference.ci95->low);
}

TEST_F(Evaluations, measure_interventions) {
  const double clean = evaluate(model_, request()).perplexity.nll;
  EXPECT_NE(evaluate(model_, request({}, {"attn.gate noise=0.5"})).perplexity.nll, clean);
  EXPECT_NEAR(evaluate(model_, request({}, {"logits set=0"})).perplexity.nll, std::log(128), 1e-5);
}

TEST_F(Evaluations, refuse_an_intervention_that_met_no_token) {
  EXPECT_ERROR(evaluate(model_, request({}, {"attn.gate set=1 positions=5000"})), ErrorKind::Usage,
               "intervention at attn.gate: no token of the text has such a position");
}

TEST_F(Evaluations, refuse_a_likelihood_that_is_not_finite) {
  const std::string what = model_.path().string() + ": the likelihood of the text is not finite";
  EXPECT_ERROR(evaluate(model_, request({}, {"attn.gate scale=1e38", "layers.1.attn.out scale=1e38"})),
               ErrorKind::Failed,
               what + " (the first value that is not: layers.0.mlp.input, which is nan at token 0)");
  EXPECT_ERROR(evaluate(model_, request({}, {"logits scale=1e38"})), ErrorKind::Failed,
               what + " (the first value that is not: logits)");
}

// Its squares overflow in the next norm. Divided by infinity, all would be zero and every token equally
// likely.
TEST_F(Evaluations, refuse_values_that_are_finite_but_too_large) {
  EXPECT_ERROR(evaluate(model_, request({}, {"layers.1.resid set=1e38"})), ErrorKind::Failed,
               model_.path().string() +
                   ": the likelihood of the text is not finite (the first value that is not: "
                   "layers.2.attn.input, which is nan at token 0)");
}

TEST_F(Evaluations, warn_once_of_chunks_beyond_the_positions_of_the_model) {
  const std::vector<TokenId> ids(static_cast<size_t>(model_.config().positions) + 2, 7);
  std::ostringstream said;
  Log log(LogLevel::Normal, said);
  ModelEvaluationRequest asked{.model = model_.path(), .source = ids, .against = DType::BF16};
  asked.chunks.length = model_.config().positions + 1;
  evaluate_model(engine_, asked, {.log = &log});
  EXPECT_EQ(said.str(), "");
  asked.chunks.length = model_.config().positions + 2;
  evaluate_model(engine_, asked, {.log = &log});
  EXPECT_EQ(
      said.str(),
      "sluice: warning: a chunk feeds 257 tokens, the model is made for 256 (max_position_embeddings): what "
      "comes after may be poor\n");
}

TEST_F(Evaluations, report_chunks_and_stop_when_they_are_cancelled) {
  std::vector<int64_t> seen;
  JobControl control{.progress = [&](const ProgressUpdate& update) { seen.push_back(update.done); }};
  evaluate(model_, request({.length = 20}), control);
  EXPECT_EQ(seen, (std::vector<int64_t>{0, 1, 2}));
  control.cancelled = [&] { return seen.size() > 4; };
  EXPECT_ERROR(evaluate(model_, request({.length = 10}), control), ErrorKind::Interrupted, "interrupted");
  EXPECT_EQ(seen.size(), 5U);
}

TEST_F(Evaluations, go_the_whole_way_from_a_directory_and_compare_two_types_on_the_same_chunks) {
  ModelEvaluationRequest asked{.model = golden("tiny_gate_elementwise"),
                               .options = {.tokenizer = "bytes"},
                               .source = kText,
                               .chunks = {.length = 10},
                               .interventions = {"attn.gate set=0.5"},
                               .against = DType::I8};
  const Evaluation both = evaluate_model(engine_, asked);
  const Evaluation first = evaluate(model_, request({.length = 10}, {"attn.gate set=0.5"}));
  EXPECT_EQ(both.perplexity.nll, first.perplexity.nll);
  ASSERT_TRUE(both.against.has_value());
  EXPECT_EQ(both.against->dtype, DType::I8);
  EXPECT_NE(both.against->base.nll, first.perplexity.nll);
  EXPECT_NEAR(both.against->difference.nll, first.perplexity.nll - both.against->base.nll, 1e-12);
  asked.against = DType::F32;
  EXPECT_ERROR(evaluate_model(engine_, asked), ErrorKind::Usage,
               "eval: --against f32 is what is evaluated already (--dtype says what is compared with it)");
}

}  // namespace
}  // namespace sluice
