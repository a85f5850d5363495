// The nursery's pair in tests/golden/nursery: two trained models that solve their task, one of which has a
// sink.
#include <gtest/gtest.h>

#include "sluice/analysis/look.h"
#include "sluice/eval/backcopy_score.h"

namespace sluice {
namespace {

constexpr uint64_t kNurseryChain = 1;  // the seed of the text that both were trained on

class NurseryPair : public testing::TestWithParam<const char*> {
 protected:
  LoadedModel model(const std::string& name) {
    return LoadedModel(engine_, std::filesystem::path(SLUICE_SOURCE_DIR) / "tests/golden/nursery" / name);
  }

  // Documents that no corpus of the chain reaches, each a sequence of 128 with the end of text behind it.
  static ChunkedText documents(const LoadedModel& model, uint64_t count) {
    const BackcopyChain chain(kNurseryChain);
    std::vector<TokenId> tokens;
    for (uint64_t i = 0; i < count; ++i) {
      const std::vector<TokenId> ids =
          model.encode(chain.document((uint64_t{1} << 41) + i, BackcopyChain::kUsualLetters));
      tokens.insert(tokens.end(), ids.begin(), ids.end());
      tokens.push_back(0);
    }
    return cut_into_chunks(tokens, {.length = BackcopyChain::kUsualLetters + 2}, {});
  }

  Engine engine_;
};

TEST_P(NurseryPair, copies_after_triggers_and_knows_the_chain) {
  const BackcopyScore score = score_backcopy(model(GetParam()), {.seed = kNurseryChain, .documents = 50});
  EXPECT_GE(score.copy_accuracy, 0.95);
  EXPECT_LT(score.excess(), 0.1);
  EXPECT_GT(score.copies, 300);
}

TEST_P(NurseryPair, knows_no_other_chain) {
  const BackcopyScore score = score_backcopy(model(GetParam()), {.seed = kNurseryChain + 1, .documents = 10});
  EXPECT_GT(score.excess(), 1);
}

INSTANTIATE_TEST_SUITE_P(Models, NurseryPair, testing::Values("baseline", "headwise"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(NurseryPair, has_a_baseline_whose_sink_is_several_times_its_floor) {
  const LoadedModel baseline = model("baseline");
  const Look looked = look(baseline, {.text = documents(baseline, 30)});
  EXPECT_EQ(looked.length, 127);
  EXPECT_GE(looked.sink.ci95.value().low, 3 * looked.key_floor);
  EXPECT_GT(sink_rate(looked.attention, 0.5), 0) << "a head is dormant";
  EXPECT_GT(strongest_head(looked.attention).sink, looked.sink.value) << "and has more than all on average";
}

TEST_F(NurseryPair, has_a_gated_model_with_less_of_it) {
  const LoadedModel baseline = model("baseline"), headwise = model("headwise");
  const Look without = look(baseline, {.text = documents(baseline, 30)});
  const Look with = look(headwise, {.text = documents(headwise, 30)});
  EXPECT_LT(with.sink.ci95.value().high, without.sink.ci95.value().low);
  ASSERT_EQ(with.gates.size(), 1U);
  EXPECT_TRUE(without.gates.empty());
}

}  // namespace
}  // namespace sluice
