// sluice sweep as a black box.
#include "tests/cli/expect_refusal.h"
#include "tests/cli/train_command.h"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class SweepCommand : public TrainCommand {
 protected:
  ProgramRun sweep(const Words& more) const {
    Words arguments = {"sweep", path("run.json"), "--data", path("t.tokens"),
                       "--out", path("sweep"),    "--set",  "steps=3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

TEST_F(SweepCommand, trains_every_variant_with_every_seed_and_gives_intervals) {
  const ProgramRun swept = sweep({"--vary", "model=tiny-baseline,tiny-headwise", "--seeds", "2", "--json"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  const Json points = Json::parse(swept.out)["points"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0]["name"], "tiny-baseline");
  EXPECT_FALSE(points[0].contains("gate_mean"));
  EXPECT_TRUE(points[1].contains("gate_mean"));
  for (const Json& point : points) {
    ASSERT_EQ(point["runs"].size(), 2U);
    const double first = point["runs"][0]["validation"]["validation_loss"];
    const double second = point["runs"][1]["validation"]["validation_loss"];
    EXPECT_NE(first, second) << "seeds differ";
    EXPECT_DOUBLE_EQ(point["validation_loss"]["mean"].get<double>(), (first + second) / 2);
    // Student's t of two values: 12.706 · |a - b| / 2.
    EXPECT_NEAR(point["validation_loss"]["half_width"].get<double>(), 12.706 * std::abs(first - second) / 2,
                1e-9);
  }
  EXPECT_EQ(Json::parse(content_of(path("sweep/result.json")))["points"].size(), 2U);
  EXPECT_TRUE(content_of(path("sweep/table.csv")).starts_with("variant,seed,validation_loss"));
}

TEST_F(SweepCommand, resumed_takes_up_what_is_there_and_adds_what_is_new) {
  ASSERT_EQ(sweep({"--vary", "schedule.peak=1e-3", "--seeds", "1"}).exit_code, 0);
  const fs::path first = path("sweep/peak=1e-3/seed-1/checkpoints/step-000003/model.safetensors");
  const auto written = fs::last_write_time(first);
  EXPECT_EQ(sweep({"--vary", "schedule.peak=1e-3", "--seeds", "1"}).exit_code, 1) << "nothing is replaced";
  const ProgramRun larger =
      sweep({"--vary", "schedule.peak=1e-3,1e-2", "--seeds", "1", "--resume", "--json"});
  ASSERT_EQ(larger.exit_code, 0) << larger.err;
  EXPECT_EQ(fs::last_write_time(first), written) << "not trained again";
  const Json points = Json::parse(larger.out)["points"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0]["runs"].size(), 1U);
  EXPECT_TRUE(points[0].contains("validation_loss"));
}

TEST_F(SweepCommand, counts_a_run_that_diverges_and_goes_on) {
  const ProgramRun swept = sweep({"--vary", "schedule.peak=10,1e-3", "--seeds", "1", "--json", "--set",
                                  "optimizer.weight_decay=10", "--set", "steps=40"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  const Json points = Json::parse(swept.out)["points"];
  // A decay of 100 per step turns every weight around and makes it 99 times as large.
  EXPECT_EQ(points[0]["diverged"], 1);
  EXPECT_EQ(points[1]["diverged"], 0);
  EXPECT_EQ(points[1]["runs"].size(), 1U);
}

TEST_F(SweepCommand, refuses_before_the_first_run_what_one_of_them_cannot_do) {
  EXPECT_REFUSAL(sweep({"--vary", "model=tiny-baseline,tiny-nothing"}), 3, "tiny-nothing");
  EXPECT_REFUSAL(sweep({"--vary", "schedule.peak=1e-3,"}), 2, "an empty value");
  EXPECT_REFUSAL(sweep({"--vary", "seed=1,2"}), 2, "--seeds");
  EXPECT_REFUSAL(sweep({"--vary", "dtype=f32,bf16", "--dtype", "f32"}), 2, "--dtype");
  EXPECT_REFUSAL(sweep({"--vary", "model=.."}), 2, "no name");
  EXPECT_REFUSAL(sweep({"--set", "validation.share=0"}), 3, "validation losses");
  EXPECT_REFUSAL(sweep({"--set", "stop.minutes=1"}), 3, "equal length");
  EXPECT_REFUSAL(sweep({"--vary", "validation.share=0.2,0.0001"}), 3, "validation");
  EXPECT_REFUSAL(run({"sweep", path("run.json"), "--out", path("sweep")}), 2, "--data");
  EXPECT_FALSE(fs::exists(path("sweep")));
}

}  // namespace
}  // namespace sluice::test
