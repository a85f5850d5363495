#include "sluice/ablate/rounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sluice/ablate/run_effect.h"
#include "sluice/base/random.h"

namespace sluice {
namespace {

constexpr int64_t kChunkTokens = 100;

// Run r changes a chunk by effects[r], with some noise of the chunk.
struct MadeUpRuns {
  std::vector<double> effects;
  double noise = 0.01;
  std::vector<std::vector<size_t>> asked = {};

  RunMeasures measures(int64_t chunk, double change) const {
    const double nll = 3 + 0.1 * Random(9).normal(static_cast<uint64_t>(chunk)) + change;
    return {.nll = {.sum = nll * kChunkTokens, .tokens = kChunkTokens},
            .kl = std::abs(change) * kChunkTokens};
  }

  // What changes nothing changes nothing in any chunk.
  double noise_of(size_t run) const { return effects[run] == 0 ? 0.05 * noise : noise; }

  MeasuredChunk operator()(int64_t chunk, std::span<const size_t> runs) {
    asked.emplace_back(runs.begin(), runs.end());
    MeasuredChunk measured{.base = measures(chunk, 0)};
    for (const size_t run : runs)
      measured.runs.push_back(
          measures(chunk, effects[run] + noise_of(run) * Random(run).normal(static_cast<uint64_t>(chunk))));
    return measured;
  }
};

RoundsRequest request_for(size_t runs, int64_t chunks) {
  RoundsRequest request{.chunks = chunks, .seed = 5};
  for (size_t i = 0; i < runs; ++i) request.runs.push_back(i);
  request.rule.comparisons = static_cast<int64_t>(runs);
  return request;
}

TEST(Rounds, let_a_run_rest_as_soon_as_it_is_decided_and_the_others_go_on) {
  MadeUpRuns runs{.effects = {5.0, 0.0, 0.03}, .noise = 0.02};
  const Rounds rounds = run_rounds(request_for(3, 60), std::ref(runs));
  EXPECT_LT(rounds.runs[0].chunks.size(), 15u) << "a large effect";
  EXPECT_LT(rounds.runs[1].chunks.size(), 15u) << "none";
  EXPECT_GT(rounds.runs[2].chunks.size(), rounds.runs[1].chunks.size()) << "one as small as its noise";
  EXPECT_EQ(runs.asked.back(), std::vector<size_t>{2});
  EXPECT_EQ(rounds.base.size(), rounds.order.size());
}

TEST(Rounds, see_every_chunk_if_they_are_exhaustive) {
  MadeUpRuns runs{.effects = {5.0, 0.0}};
  RoundsRequest request = request_for(2, 20);
  request.coverage = Coverage::Exhaustive;
  const Rounds rounds = run_rounds(request, std::ref(runs));
  EXPECT_EQ(std::set<int64_t>(rounds.order.begin(), rounds.order.end()).size(), 20u);
  EXPECT_EQ(rounds.runs[0].chunks.size(), 20u);
}

TEST(Rounds, take_chunks_in_an_order_of_the_seed) {
  MadeUpRuns runs{.effects = {1.0}};
  RoundsRequest request = request_for(1, 30);
  request.coverage = Coverage::Exhaustive;
  const std::vector<int64_t> order = run_rounds(request, std::ref(runs)).order;
  EXPECT_EQ(run_rounds(request, std::ref(runs)).order, order);
  request.seed = 6;
  EXPECT_NE(run_rounds(request, std::ref(runs)).order, order);
}

TEST(Rounds, stop_a_run_at_once_whose_likelihood_is_not_finite) {
  MadeUpRuns runs{.effects = {INFINITY, 0.0}};
  const Rounds rounds = run_rounds(request_for(2, 30), std::ref(runs));
  EXPECT_EQ(rounds.runs[0].chunks.size(), 1u);
  const RunEffect effect = effect_of({rounds.runs[0].chunks, rounds.base}, {});
  EXPECT_FALSE(effect.finite);
  EXPECT_EQ(effect.verdict, RunVerdict::Worse);
}

TEST(Rounds, give_the_verdicts_that_all_chunks_would_give) {
  MadeUpRuns runs{.effects = {2.0, 0.3, 0.0, -0.2, 0.001, 0.08}, .noise = 0.01};
  RoundsRequest request = request_for(6, 100);
  const Rounds some = run_rounds(request, std::ref(runs));
  request.coverage = Coverage::Exhaustive;
  const Rounds all = run_rounds(request, std::ref(runs));
  size_t seen = 0;
  for (size_t i = 0; i < 6; ++i) {
    seen += some.runs[i].chunks.size();
    EXPECT_EQ(effect_of({some.runs[i].chunks, some.base}, request.rule).verdict,
              effect_of({all.runs[i].chunks, all.base}, request.rule).verdict)
        << i;
  }
  EXPECT_LT(seen, 6 * 100 / 2) << "half of the evaluations are saved at least";
}

TEST(Effects, are_paired_with_the_unbroken_model_on_the_same_chunks) {
  MadeUpRuns runs{.effects = {0.5}, .noise = 0.01};
  RoundsRequest request = request_for(1, 40);
  request.coverage = Coverage::Exhaustive;
  const Rounds rounds = run_rounds(request, std::ref(runs));
  const RunEffect effect = effect_of({rounds.runs[0].chunks, rounds.base}, request.rule);
  EXPECT_NEAR(effect.nll.value, 0.5, 0.01);
  EXPECT_LT(effect.nll.ci95->high - effect.nll.ci95->low, 0.02) << "the chunks' own noise of 0.1 cancels";
  EXPECT_NEAR(effect.ppl_ratio.value, std::exp(effect.nll.value), 1e-12);
  EXPECT_NEAR(effect.kl, 0.5, 0.02);
  EXPECT_EQ(effect.tokens, 40 * kChunkTokens);
  EXPECT_EQ(effect.verdict, RunVerdict::Worse);
  EXPECT_LT(effect.p, 1e-6);
}

TEST(Effects, are_corrected_for_how_many_there_are) {
  AblationResult result{.rule = {.comparisons = 2}};
  result.models.push_back({.texts = {{.effects = {{.p = 0.01}, {.p = 0.04}, {.p = 0.9}}}}});
  for (RunEffect& effect : result.models[0].texts[0].effects) effect.nll.value = 1;
  correct_for_many(result);
  const std::vector<RunEffect>& effects = result.models[0].texts[0].effects;
  EXPECT_NEAR(effects[0].corrected_p, 0.03, 1e-12);
  EXPECT_NEAR(effects[1].corrected_p, 0.08, 1e-12);
  EXPECT_EQ(effects[0].verdict, RunVerdict::Worse) << "the corrected test decides";
  EXPECT_EQ(effects[1].verdict, RunVerdict::Undecided);
}

}  // namespace
}  // namespace sluice
