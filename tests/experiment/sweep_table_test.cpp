// The tables of a sweep from given outcomes.
#include "sluice/experiment/sweep_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

SweepRun run_of(int seed, double loss, bool gated) {
  TrainingOutcome outcome{.directory = "sweep/x", .state = {.step = 3, .tokens = 384, .seconds = 2}};
  outcome.state.losses.spikes = 1;
  outcome.validation =
      Validation{.step = 3,
                 .loss = loss,
                 .pulse = {.sink = 0.25, .max_activation = 4, .gated = gated, .gate_mean = 0.5}};
  return {.seed = seed, .directory = "sweep/x", .outcome = outcome};
}

SweepResult example() {
  return {
      .variants = {
          {.point = {{"model=base"}}, .parameters = 1000, .runs = {run_of(1, 2, false), run_of(2, 3, false)}},
          {.point = {{"model=gated"}},
           .parameters = 1010,
           .runs = {run_of(1, 1000, true), {.seed = 2, .directory = "d"}}}}};
}

TEST(SweepTable, has_a_mean_and_an_interval_per_variant) {
  const auto points = to_json(example())["points"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0]["validation_loss"]["mean"], 2.5);
  EXPECT_NEAR(points[0]["validation_loss"]["half_width"].get<double>(), 12.7062047361747 / 2, 1e-9);
  EXPECT_EQ(points[0]["spikes"], 2);
  EXPECT_FALSE(points[0].contains("gate_mean")) << "a baseline has none";
  EXPECT_EQ(points[1]["gate_mean"]["mean"], 0.5);
  EXPECT_TRUE(points[1]["gate_mean"]["half_width"].is_null()) << "of one run";
}

TEST(SweepTable, counts_what_diverged_and_leaves_out_what_is_no_number) {
  const auto gated = to_json(example())["points"][1];
  EXPECT_EQ(gated["diverged"], 1);
  EXPECT_EQ(gated["runs"][1], (nlohmann::ordered_json{{"seed", 2}, {"directory", "d"}, {"diverged", true}}));
  EXPECT_FALSE(gated.contains("validation_ppl")) << "e^1000 is beyond all numbers";
  EXPECT_EQ(gated["validation_loss"]["count"], 1);
}

TEST(SweepTable, as_csv_has_a_line_per_run) {
  EXPECT_EQ(sweep_csv(example()),
            "variant,seed,validation_loss,validation_ppl,sink,max_activation,gate_mean,gate_below_0.1,spikes,"
            "diverged,parameters,seconds\n"
            "base,1,2,7.38905609893065,0.25,4,,,1,0,1000,2.000\n"
            "base,2,3,20.085536923187668,0.25,4,,,1,0,1000,2.000\n"
            "gated,1,1000,,0.25,4,0.5,0,1,0,1010,2.000\n"
            "gated,2,,,,,,,0,1,1010,\n");
}

TEST(SweepTable, as_text_lines_up_although_its_signs_have_two_bytes) {
  const std::string text = to_text(example());
  EXPECT_NE(text.find("base        2        1000      0.0    2.5000 ± 6.3531"), std::string::npos) << text;
  EXPECT_NE(text.find("gated       2        1010      0.0          1000.0000                  -"),
            std::string::npos)
      << text;
}

TEST(SweepTable, pairs_differences_by_seed) {
  // Seeds differ by one, the variants by 0.25 and 0.35: only pairs show the small difference.
  SweepResult result = example();
  result.variants[1].runs = {run_of(2, 2.65, true), run_of(1, 1.75, true), run_of(3, 9, true)};
  const auto points = to_json(result)["points"];
  EXPECT_FALSE(points[0].contains("difference")) << "the others are compared with it";
  const auto difference = points[1]["difference"];
  EXPECT_EQ(difference["against"], "base");
  EXPECT_EQ(difference["validation_loss"]["count"], 2) << "seed 3 has no partner";
  EXPECT_NEAR(difference["validation_loss"]["mean"].get<double>(), -0.3, 1e-12);
  EXPECT_NEAR(difference["validation_loss"]["half_width"].get<double>(), 12.7062047361747 * 0.05, 1e-9);
  EXPECT_FALSE(difference.contains("gate_mean"));
  EXPECT_NE(to_text(result).find("gated       2   -0.3000 ± 0.6353"), std::string::npos) << to_text(result);
}

}  // namespace
}  // namespace sluice
