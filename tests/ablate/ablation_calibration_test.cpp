// The text that an ablation's means and shuffles come from.
#include <sstream>

#include "sluice/ablate/ablation_forecast.h"
#include "sluice/base/permutation.h"
#include "sluice/eval/evaluate.h"
#include "tests/ablate/nursery_ablation.h"
#include "tests/base/expect_error.h"

namespace sluice {
namespace {

class AblationCalibration : public NurseryAblation {
 protected:
  // JSON lines: documents that are a chunk each, with the token that joins them.
  std::string documents(const std::string& name, uint64_t first, uint64_t count) const {
    std::string lines;
    for (uint64_t i = 0; i < count; ++i) {
      const std::string text = BackcopyChain(1).document((uint64_t{1} << 41) + first + i, kNurseryLetters);
      lines += nlohmann::json{{"text", text}}.dump() + "\n";
    }
    return directory_.file(name, lines).string();
  }

  AblationRequest of_files(const std::string& out) const {
    AblationRequest asked = request(out);
    asked.texts = {{.name = "data", .source = DataFiles{.paths = {documents("data.jsonl", 0, 12)}}}};
    asked.chunks.at_most = 3;
    asked.coverage = Coverage::Exhaustive;
    asked.sample_tokens = 0;
    asked.plan.global_actions = {"mean", "head-mean"};
    asked.plan.layer_actions = {"mean", "shuffled"};
    asked.plan.draws = 2;
    asked.plan.layers_with_heads = 0;
    return asked;
  }

  static const std::vector<std::string>& warnings(const AblationResult& result) {
    return result.models.front().texts.front().warnings;
  }
};

TEST_F(AblationCalibration, is_that_of_an_evaluation_with_the_same_file) {
  AblationRequest asked = of_files("out");
  const std::string file = documents("calibration.jsonl", 100, 20);
  asked.calibration = DataFiles{.paths = {file}};
  const AblationResult result = run_ablation(engine_, asked);
  const AblatedModel& model = result.models.front();
  const AblatedText& text = model.texts.front();
  const Permutation order(3, Random(asked.seed));
  ASSERT_GT(model.plan.runs.size(), 8u);
  for (size_t i = 0; i < model.plan.runs.size(); ++i) {
    const Evaluation evaluated = evaluate_model(engine_, {.model = asked.models.front(),
                                                          .source = asked.texts.front().source,
                                                          .chunks = asked.chunks,
                                                          .interventions = model.plan.runs[i].interventions,
                                                          .calibration = {file}});
    for (uint64_t round = 0; round < 3; ++round) {
      const ChunkNll& chunk = evaluated.chunks[order(round)];
      const double base = text.base_by_chunk[round] * static_cast<double>(chunk.tokens);
      const double change = text.effects[i].by_chunk[round] * static_cast<double>(chunk.tokens);
      EXPECT_NEAR(base + change, chunk.sum, 1e-9) << model.plan.runs[i].name;
    }
  }
}

TEST_F(AblationCalibration, comes_from_what_is_not_evaluated_however_few_chunks_are) {
  AblationRequest asked = of_files("out");
  asked.chunks.at_most = 1;
  const AblationResult result = run_ablation(engine_, asked);
  const AblatedText& text = result.models.front().texts.front();
  EXPECT_EQ(text.chunks, 1);
  EXPECT_EQ(text.calibration, "the 8 chunks behind them, held apart");
  const std::vector<RunEffect>& effects = text.effects;
  EXPECT_NE(effects[effects.size() - 2].nll.value, effects.back().nll.value) << "draws of one shuffle";
}

TEST_F(AblationCalibration, is_a_fifth_where_all_chunks_are_asked_for) {
  AblationRequest asked = of_files("out");
  asked.chunks.at_most = 50;
  const AblatedText text = run_ablation(engine_, asked).models.front().texts.front();
  EXPECT_EQ(text.chunks, 9);
  EXPECT_EQ(text.calibration, "the 2 chunks behind them, held apart");
}

TEST_F(AblationCalibration, too_short_for_a_shuffle_is_refused_before_anything_runs) {
  AblationRequest asked = of_files("out");
  const std::string file = directory_.file("short.txt", "twenty letters of it").string();
  asked.calibration = DataFiles{.paths = {file}};
  const std::string line = "--calibration " + file +
                           ": too short for a shuffle, which takes another sequence's values: expected at "
                           "least 40 tokens, got 20";
  EXPECT_BAD_INPUT(run_ablation(engine_, asked), line);
  EXPECT_BAD_INPUT(forecast_ablation(engine_, asked), line);
  EXPECT_FALSE(std::filesystem::exists(asked.out));
  asked.plan.layer_actions = {"mean"};
  const AblationResult rough = run_ablation(engine_, asked);
  ASSERT_FALSE(warnings(rough).empty());
  EXPECT_EQ(warnings(rough).back(), "data: means are over 19 tokens of calibration text, and rough");
}

TEST_F(AblationCalibration, of_fewer_sequences_than_draws_is_doubtful) {
  AblationRequest asked = of_files("out");
  asked.calibration = DataFiles{.paths = {documents("three.jsonl", 100, 3)}};
  asked.plan.draws = 3;
  asked.plan.global_actions = {"open"};
  asked.plan.layer_actions = {"shuffled"};
  std::ostringstream told;
  Log log(LogLevel::Normal, told);
  (void)forecast_ablation(engine_, asked, {.log = &log});
  const std::string expected =
      "data: a shuffle is drawn 3 times among 2 sequences of calibration text: some draws are the same";
  EXPECT_EQ(warnings(run_ablation(engine_, asked)).back(), expected);
  EXPECT_NE(told.str().find(expected), std::string::npos) << "a forecast says it, too";
}

}  // namespace
}  // namespace sluice
