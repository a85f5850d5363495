#include "sluice/serve/example_calibration.h"

#include <gtest/gtest.h>

#include "tests/serve/running_server.h"

namespace sluice::serve {
namespace {

class ExampleMeans : public testing::Test {
 protected:
  std::vector<Intervention> calibrated(const std::vector<std::string>& changes, int64_t prompt_tokens = 48) {
    return calibrated_on_examples(shelved_, model_,
                                  {parse_interventions(changes, model_.config()), prompt_tokens}, {});
  }

  Engine engine_{{.threads = 1}};
  ModelShelf shelf_{engine_, {nursery_model("headwise")}, {}};
  ShelvedModel& shelved_ = shelf_.find("headwise");
  const LoadedModel& model_ = shelf_.load(shelved_);
};

TEST_F(ExampleMeans, are_taken_once_for_all_layers_of_a_model) {
  const std::vector<Intervention> first = calibrated({"layers.1.attn.gate mean"});
  ASSERT_TRUE(first[0].calibration);
  for (const char* change : {"attn.gate mean", "layers.0.attn.gate head-mean heads=1",
                             "layers.2.attn.gate overall-mean", "attn.gate layer-mean positions=3"})
    EXPECT_EQ(calibrated({change})[0].calibration, first[0].calibration) << change;
  EXPECT_NE(calibrated({"attn.mixed mean"})[0].calibration, first[0].calibration);
}

TEST_F(ExampleMeans, are_the_same_when_they_were_forgotten_meanwhile) {
  const std::vector<Intervention> kept = calibrated({"layers.1.attn.gate mean"});
  for (size_t i = 0; i < ShelvedModel::kMostMeans; ++i)
    shelved_.example_means.put("other " + std::to_string(i), std::make_shared<Calibration>(), 1);
  const std::vector<Intervention> again = calibrated({"layers.1.attn.gate mean"});
  ASSERT_NE(again[0].calibration, kept[0].calibration) << "only so many are kept";
  const TapName name{1, GatePosition::G1->tap};
  for (int64_t head = 0; head < 2; ++head)
    EXPECT_EQ(again[0].calibration->find(name)->mean(head), kept[0].calibration->find(name)->mean(head));
}

// One who changes a text of that length by `sluice eval` gets the same.
TEST_F(ExampleMeans, are_of_sequences_as_long_as_the_prompt) {
  const std::vector<Intervention> shorter = calibrated({"attn.gate mean"}, 11);
  EXPECT_EQ(shorter[0].calibration->sequences(), 16);
  EXPECT_EQ(shorter[0].calibration->tokens(), 16 * 10) << "the last token of each is not fed";
  EXPECT_EQ(calibrated({"attn.gate mean"}, 128)[0].calibration->tokens(), 15 * 127);
  EXPECT_EQ(calibrated({"attn.gate mean"}, 11)[0].calibration, shorter[0].calibration);
}

TEST_F(ExampleMeans, are_left_alone_where_nobody_needs_them) {
  EXPECT_FALSE(calibrated({"attn.gate set=0"})[0].calibration);
  EXPECT_EQ(shelved_.example_means.bytes(), 0U);
}

}  // namespace
}  // namespace sluice::serve
