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

// Chunks that change by `change`, with a spread that makes some intervals too wide to decide.
RunEffect effect_among(int64_t comparisons, double change, double noise) {
  MadeUpRuns runs{.effects = {change}, .noise = noise};
  RoundsRequest request = request_for(1, 30);
  request.coverage = Coverage::Exhaustive;
  request.rule.comparisons = comparisons;
  const Rounds rounds = run_rounds(request, std::ref(runs));
  return effect_of({rounds.runs[0].chunks, rounds.base}, request.rule);
}

TEST(Effects, have_verdicts_from_the_interval_for_all_comparisons_and_from_nothing_else) {
  int decided = 0, open = 0;
  for (const double change : {0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2}) {
    for (const int64_t comparisons : {1, 2, 50}) {
      const RunEffect effect = effect_among(comparisons, change, 0.08);
      ASSERT_TRUE(effect.sequence);
      const bool holds_zero = effect.sequence->low <= 0 && effect.sequence->high >= 0;
      EXPECT_EQ(effect.verdict == RunVerdict::Undecided, holds_zero) << change;
      EXPECT_EQ(effect.corrected_p >= 0.05, holds_zero) << "the p value says what the interval says";
      EXPECT_NEAR(effect.corrected_p, std::min(1.0, effect.p * static_cast<double>(comparisons)), 1e-12);
      ++(holds_zero ? open : decided);
    }
  }
  EXPECT_GT(decided, 3);
  EXPECT_GT(open, 3);
}

TEST(Effects, that_are_open_say_why) {
  const RunEffect wide = effect_among(50, 0.03, 0.08);
  ASSERT_EQ(wide.verdict, RunVerdict::Undecided);
  EXPECT_NE(wide.reason.find("the interval for all 50 comparisons"), std::string::npos) << wide.reason;
  EXPECT_EQ(effect_among(1, 5, 0.01).reason, "");
  MadeUpRuns runs{.effects = {5.0}, .noise = 0.01};
  const Rounds few = run_rounds(request_for(1, 5), std::ref(runs));
  const RunEffect effect = effect_of({few.runs[0].chunks, few.base}, {});
  EXPECT_EQ(effect.verdict, RunVerdict::Undecided);
  EXPECT_EQ(effect.reason, "fewer than 8 chunks say nothing");
}

TEST(Effects, have_an_interval_of_the_sink_that_holds_at_every_time_of_stopping) {
  std::vector<RunMeasures> base(20), broken(20);
  for (uint64_t i = 0; i < 20; ++i) {
    base[i] = {.nll = {.sum = 1, .tokens = 1}, .sink = 0.1};
    broken[i] = {.nll = {.sum = 2 + 0.1 * Random(1).normal(i), .tokens = 1},
                 .sink = 0.3 + 0.05 * Random(2).normal(i)};
  }
  const RunEffect effect = effect_of({broken, base}, {.comparisons = 10});
  ASSERT_TRUE(effect.sink_sequence && effect.sink.ci95);
  EXPECT_LT(effect.sink_sequence->low, effect.sink.ci95->low);
  EXPECT_GT(effect.sink_sequence->high, effect.sink.ci95->high);
}

}  // namespace
}  // namespace sluice
