// What is said of a nursery whose figures are given.
#include "sluice/report/nursery_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sluice/report/nursery_findings.h"
#include "sluice/train/run_config.h"
#include "tests/report/nursery_example.h"

namespace sluice {
namespace {

MeasuredTraining run_of(const char* variant, int seed, double sink, double copy_accuracy = 0.99) {
  return {.variant = variant,
          .seed = seed,
          .validation_loss = 2,
          .sink = sink,
          .max_activation = 16,
          .copy_accuracy = copy_accuracy,
          .excess = 0.01};
}

// The nursery's experiment with other runs, looked at once.
ExperimentResult seeds_with(std::vector<MeasuredTraining> runs, const ExperimentLook& look) {
  ExperimentResult seeds = stored_seeds(kNursery);
  seeds.experiment.looks = {look};
  seeds.runs = std::move(runs);
  return seeds;
}

DifferenceAtLook headwise_sinks(const ExperimentResult& seeds) {
  return planned_difference(seeds, *find_variant(seeds.variants, "nursery-headwise"),
                            &MeasuredTraining::sink);
}

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
  NurseryResult nursery = example_nursery();
  nursery.seeds =
      seeds_with({run_of("nursery-baseline", 1, 0.25), run_of("nursery-headwise", 1, 0.1)}, {10, 0.05});
  const Section section = nursery_section(nursery);
  EXPECT_EQ(std::get<Finding>(section.blocks[1]).text, nursery_answer(example_nursery()).text);
  ASSERT_EQ(section.subsections.size(), 1U);
  const auto& finding = std::get<Finding>(section.subsections[0].blocks[2]);
  EXPECT_EQ(finding.verdict, Verdict::Undecided);
  EXPECT_TRUE(says(finding.text, "not looked at yet. The first planned look is at 10 pairs")) << finding.text;
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
  const ExperimentResult seeds =
      seeds_with({run_of("nursery-baseline", 1, 0.20), run_of("nursery-baseline", 2, 0.30),
                  run_of("nursery-baseline", 3, 0.30, 0.94), run_of("nursery-headwise", 2, 0.10),
                  run_of("nursery-headwise", 1, 0.10), run_of("nursery-headwise", 3, 0),
                  run_of("nursery-headwise", 4, 0)},
                 {2, 0.05});
  const auto difference = headwise_sinks(seeds).difference;
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->count, 2);
  EXPECT_NEAR(difference->mean, -0.15, 1e-12);
  EXPECT_NEAR(*difference->half_width, 12.7062047 * 0.05, 1e-6);
  EXPECT_EQ(nursery_seed_differences(kNursery, seeds).rows.size(), 1U) << "of the other variant none has run";
  const std::string note = nursery_seed_note(kNursery, seeds);
  EXPECT_TRUE(says(note, "7 runs, of which 1 does not solve the task")) << note;
  const Table means = nursery_seed_means(kNursery, seeds);
  ASSERT_EQ(means.rows.size(), 2U);
  EXPECT_EQ(std::get<int64_t>(means.rows[0][1]), 3) << "seeds";
  EXPECT_EQ(std::get<int64_t>(means.rows[0][2]), 2) << "solved";
  EXPECT_EQ(std::get<int64_t>(means.rows[0][3]), 2) << "with a sink";
  EXPECT_EQ(std::get<int64_t>(means.rows[1][3]), 0) << "with a sink";
}

TEST(NurserySeeds, do_not_take_the_place_of_one_that_does_not_solve_the_task) {
  const DifferenceAtLook sinks =
      headwise_sinks(seeds_with({run_of("nursery-baseline", 1, 0.2), run_of("nursery-baseline", 2, 0.2, 0.5),
                                 run_of("nursery-baseline", 3, 0.2), run_of("nursery-headwise", 1, 0.1),
                                 run_of("nursery-headwise", 2, 0.1), run_of("nursery-headwise", 3, 0.1)},
                                {2, 0.05}));
  EXPECT_TRUE(sinks.look);
  ASSERT_TRUE(sinks.difference);
  EXPECT_EQ(sinks.difference->count, 1);
}

// A number that the page beside the stored table has of a variant.
double on_page(const NurseryPair& pair, const std::string& column) {
  std::ifstream file(fmt::format("{}/docs/results/{}-differences.csv", SLUICE_SOURCE_DIR, pair.stored));
  const auto cells_of = [](const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream rest(line);
    for (std::string cell; std::getline(rest, cell, ',');) cells.push_back(cell);
    return cells;
  };
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> columns = cells_of(line);
  const auto place = std::ranges::find(columns, column) - columns.begin();
  while (std::getline(file, line))
    if (const auto cells = cells_of(line); cells[0] == pair.stored_variant)
      return std::stod(cells.at(static_cast<size_t>(place)));
  throw std::runtime_error(fmt::format("{} has no {}", pair.stored, pair.stored_variant));
}

TEST(NurserySeeds, are_built_into_the_program_and_say_what_their_page_says) {
  for (const NurseryPair& pair : kNurseryPairs) {
    const ExperimentResult seeds = stored_seeds(pair);
    const DifferenceAtLook sinks = planned_difference(
        seeds, *find_variant(seeds.variants, pair.stored_variant), &MeasuredTraining::sink);
    EXPECT_TRUE(sinks.look) << pair.stored << " has reached no look";
    ASSERT_TRUE(sinks.difference && sinks.difference->half_width) << pair.stored;
    EXPECT_NEAR(sinks.difference->mean, on_page(pair, "sink"), 1e-9) << pair.stored;
    const Table differences = nursery_seed_differences(pair, seeds);
    const auto row = std::ranges::find(
        differences.rows, short_name(pair.stored_variant),
        [](const std::vector<TableCell>& cells) { return std::get<std::string>(cells.front()); });
    ASSERT_NE(row, differences.rows.end()) << pair.stored;
    EXPECT_NEAR(interval_of((*row)[2])->low, on_page(pair, "sink_low"), 1e-9) << pair.stored;
    EXPECT_EQ(seed_findings(pair, seeds).size(), 3U);
  }
}

TEST(NurseryPairs, are_judged_as_their_experiment_is) {
  for (const NurseryPair& pair : kNurseryPairs) {
    const Experiment planned = stored_seeds(pair).experiment;
    EXPECT_EQ(planned.solved, NurseryLimits::kSolved) << pair.stored;
    EXPECT_EQ(planned.equal_loss, NurseryLimits::kEqualLoss) << pair.stored;
  }
}

TEST(NurseryPairs, are_presets_that_differ_by_the_gate_alone_with_a_seed_that_is_stored) {
  for (const NurseryPair& pair : kNurseryPairs) {
    const RunConfig plain = load_run_config(pair.baseline(), {});
    RunConfig gated = load_run_config(pair.gated(), {});
    EXPECT_TRUE(plain.model.gates.empty());
    ASSERT_EQ(gated.model.gates.size(), 1U);
    gated.model.gates.clear();
    gated.model.gate_layout = plain.model.gate_layout;
    EXPECT_EQ(run_config_json(gated), run_config_json(plain)) << pair.stem;
    const ExperimentResult stored = stored_seeds(pair);
    EXPECT_TRUE(std::ranges::any_of(stored.runs, [&](const MeasuredTraining& run) {
      return run.seed == static_cast<int>(plain.seed);
    })) << pair.stem;
  }
}

TEST(NurseryReport, has_no_map_of_heads_for_models_of_one_head) {
  NurseryResult one = example_nursery();
  one.pair = kNurseryPairs[0];
  one.seeds = stored_seeds(one.pair);
  for (StudiedModel& model : one.looked.study.models) {
    model.look.attention.resize(1);
    model.look.attention[0].by_head.resize(1);
    model.prompt.maps.resize(1);
  }
  const auto tables_of = [](const NurseryResult& nursery) {
    std::string names;
    for (const ReportBlock& block : nursery_section(nursery).blocks)
      if (const Table* table = std::get_if<Table>(&block)) names += table->name + " ";
    return names;
  };
  EXPECT_EQ(tables_of(one), "nursery-one-models nursery-one-validations ");
  const std::string longer = nursery_longer(one);
  EXPECT_TRUE(says(longer, "Trained beforehand for 4,500 steps")) << longer;
  EXPECT_TRUE(says(longer, "0.864 (seed 11), 0.049 (seed 12), 0.555 (seed 13) with one")) << longer;
  EXPECT_TRUE(says(longer, "(3 pairs, docs/results/nursery-one-course.md)")) << longer;
  EXPECT_EQ(tables_of(example_nursery()), "nursery-models nursery-heads nursery-validations ");
  EXPECT_TRUE(says(nursery_introduction(one), "models of 1 layer of 1 head learn"))
      << nursery_introduction(one);
  EXPECT_TRUE(says(nursery_introduction(example_nursery()), "models of 2 layers of 2 heads learn"));
}

}  // namespace
}  // namespace sluice
