// What is said of a nursery whose figures are given.
#include "sluice/report/nursery_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sluice/report/nursery_findings.h"
#include "tests/base/expect_error.h"
#include "tests/report/nursery_example.h"

namespace sluice {
namespace {

constexpr const char* kColumns = "variant,seed,validation_loss,sink,max_activation,copy_accuracy,excess\n";

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(NurseryAnswer, is_lower_if_the_gated_sink_is_lower_at_equal_loss) {
  const Finding answer = nursery_answer(example_nursery({.sink = 0.25}, {.sink = 0.1, .nll = 2.205}));
  EXPECT_EQ(answer.verdict, Verdict::Lower);
  EXPECT_TRUE(
      says(answer.text, "The baseline has a sink: its attention on the first token is 0.250, 5.0 times"))
      << answer.text;
  EXPECT_TRUE(says(answer.text, "it is 0.100, 2.0 times as much: less, at equal loss")) << answer.text;
  EXPECT_TRUE(says(answer.text, "One seed shows what can happen")) << answer.text;
}

TEST(NurseryAnswer, is_higher_if_the_gate_adds_to_the_sink) {
  const Finding answer = nursery_answer(example_nursery({.sink = 0.25}, {.sink = 0.4}));
  EXPECT_EQ(answer.verdict, Verdict::Higher);
  EXPECT_TRUE(says(answer.text, "more, not less, at equal loss")) << answer.text;
}

TEST(NurseryAnswer, does_not_compare_sinks_of_models_that_did_not_learn_the_task) {
  const NurseryResult nursery = example_nursery({.sink = 0.25}, {.sink = 0.01, .copy_accuracy = 0.9499});
  const Finding answer = nursery_answer(nursery);
  EXPECT_FALSE(counts(nursery));
  EXPECT_EQ(answer.verdict, Verdict::Undecided);
  EXPECT_TRUE(says(answer.text, "are not compared")) << answer.text;
  EXPECT_TRUE(says(answer.text, "baseline 0.990 and headwise 0.950 of 2,000 letters")) << answer.text;
  EXPECT_FALSE(says(answer.text, "less")) << answer.text;
  EXPECT_TRUE(pair_findings(nursery).empty());
}

TEST(NurseryAnswer, does_not_compare_at_unequal_loss) {
  const Finding answer = nursery_answer(example_nursery({.sink = 0.25}, {.sink = 0.1, .nll = 2.22}));
  EXPECT_EQ(answer.verdict, Verdict::Undecided);
  EXPECT_TRUE(says(answer.text, "the losses are not equal within 0.01 nats")) << answer.text;
}

TEST(NurseryAnswer, says_when_the_baseline_has_no_sink) {
  const Finding answer = nursery_answer(example_nursery({.sink = 0.14}, {.sink = 0.06}));
  EXPECT_EQ(answer.verdict, Verdict::Undecided);
  EXPECT_TRUE(says(answer.text, "has no sink to speak of")) << answer.text;
  EXPECT_TRUE(says(answer.text, "nothing that a gate could take away")) << answer.text;
  EXPECT_EQ(nursery_answer(example_nursery({.sink = 0.16}, {.sink = 0.06})).verdict, Verdict::Lower)
      << "three times the floor is the limit";
}

TEST(NurseryReport, has_a_row_per_model_and_per_head) {
  const NurseryResult nursery = example_nursery();
  EXPECT_EQ(csv_of(nursery_models(nursery)),
            "model,parameters,validation_loss,copy_accuracy,excess,sink,sink_low,sink_high,sink_floor,"
            "strongest_head,"
            "max_activation,max_activation_low,max_activation_high,gate_mean\n"
            "baseline,1234,2.2,0.99,0.009999999999999787,0.25,0.25,0.25,0.05,0.25,6.5,6.5,6.5,\n"
            "headwise,1234,2.2,0.99,0.009999999999999787,0.1,0.1,0.1,0.05,0.1,6.5,6.5,6.5,\n");
  EXPECT_EQ(nursery_heads(nursery).rows.size(), 8U);
}

TEST(NurseryReport, leads_with_the_answer_and_ends_with_the_other_seeds) {
  const std::vector<NurserySeed> seeds = read_nursery_seeds(
      std::string(kColumns) +
          "nursery-baseline,1,2.2,0.25,16,0.99,0.01\nnursery-headwise,1,2.2,0.1,12,0.99,0.01\n",
      "given");
  const Section section = nursery_section(example_nursery(), seeds);
  EXPECT_EQ(std::get<Finding>(section.blocks[1]).text, nursery_answer(example_nursery()).text);
  ASSERT_EQ(section.subsections.size(), 1U);
  const auto& finding = std::get<Finding>(section.subsections[0].blocks[2]);
  EXPECT_EQ(finding.verdict, Verdict::Undecided);
  EXPECT_TRUE(says(finding.text, "n = 1 gives no interval")) << finding.text;
}

TEST(NurseryReport, is_json_with_the_limits_and_the_answer) {
  const auto json = to_json(example_nursery());
  EXPECT_EQ(json["verdict"], "lower");
  EXPECT_EQ(json["counts"], true);
  EXPECT_EQ(json["limits"]["copy_accuracy"], 0.95);
  EXPECT_EQ(json["models"][0]["sink"]["value"], 0.25);
  EXPECT_EQ(json["models"][1]["layers"][1]["heads"].size(), 2U);
  EXPECT_EQ(json["timing"]["seconds"], 130);
}

TEST(NurserySeeds, are_paired_by_seed_and_only_where_both_solve_the_task) {
  const std::vector<NurserySeed> seeds = read_nursery_seeds(std::string(kColumns) +
                                                                "nursery-baseline,1,2,0.20,16,0.99,0.01\n"
                                                                "nursery-baseline,2,2,0.30,16,0.99,0.01\n"
                                                                "nursery-baseline,3,2,0.30,16,0.94,0.01\n"
                                                                "nursery-headwise,2,2,0.10,10,0.99,0.01\n"
                                                                "nursery-headwise,1,2,0.10,12,0.99,0.01\n"
                                                                "nursery-headwise,3,2,0.00,10,0.99,0.01\n"
                                                                "nursery-headwise,4,2,0.00,10,0.99,0.01\n",
                                                            "given");
  const auto difference = difference_of_seeds(seeds, "nursery-headwise", &NurserySeed::sink);
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->count, 2);
  EXPECT_NEAR(difference->mean, -0.15, 1e-12);
  EXPECT_NEAR(*difference->half_width, 12.7062047 * 0.05, 1e-6);
  EXPECT_EQ(mean_of_seeds(seeds, "nursery-baseline", &NurserySeed::sink)->count, 2);
  EXPECT_EQ(csv_of(nursery_seed_differences(seeds)).substr(0, 11), "model,pairs");
  EXPECT_TRUE(says(nursery_seed_note(seeds), "7 runs, of which 1 does not solve the task"))
      << nursery_seed_note(seeds);
  const Table means = nursery_seed_means(seeds);
  EXPECT_EQ(std::get<int64_t>(means.rows[0][1]), 3) << "seeds";
  EXPECT_EQ(std::get<int64_t>(means.rows[0][2]), 2) << "solved";
  EXPECT_EQ(std::get<int64_t>(means.rows[0][3]), 2) << "with a sink";
  EXPECT_EQ(std::get<int64_t>(means.rows[1][3]), 0) << "with a sink";
  EXPECT_FALSE(difference_of_seeds(seeds, "nursery-elementwise", &NurserySeed::sink).has_value());
}

TEST(NurserySeeds, of_a_damaged_table_are_refused_with_the_line) {
  const std::string columns = "variant,seed,validation_loss,sink,max_activation,copy_accuracy,excess";
  EXPECT_ERROR(read_nursery_seeds("variant,seed\n", "given"), ErrorKind::BadInput,
               "given, line 1: no column validation_loss");
  EXPECT_ERROR(read_nursery_seeds("", "given"), ErrorKind::BadInput,
               "given: has no line with the names of its columns");
  EXPECT_ERROR(read_nursery_seeds(columns + "\na,1,2,3,4,5\n", "given"), ErrorKind::BadInput,
               "given, line 2: expected 7 cells, got 6 cells");
  EXPECT_ERROR(read_nursery_seeds(columns + "\na,1,2,nan,4,5,6\n", "given"), ErrorKind::BadInput,
               "given, line 2: sink is not a number: got \"nan\"");
}

TEST(NurserySeeds, are_built_into_the_program_with_pairs_to_compare) {
  const std::vector<NurserySeed> seeds = stored_nursery_seeds();
  const auto pairs = difference_of_seeds(seeds, "nursery-headwise", &NurserySeed::sink);
  ASSERT_TRUE(pairs.has_value());
  EXPECT_GE(pairs->count, 3);
  EXPECT_FALSE(seed_findings(seeds).empty());
}

}  // namespace
}  // namespace sluice
