// An ablation that is killed loses nothing that was finished.
#include <csignal>
#include <random>

#include "tests/cli/train_command.h"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;

class AblateFailure : public testing::Test {
 protected:
  AblateFailure() {
    EXPECT_EQ(run_sluice({"data", "synth", "--kind", "backcopy", "--documents", "60", "--seed", "1", "--out",
                          path("t.jsonl"), "--quiet"})
                  .exit_code,
              0);
  }

  ProgramRun ablate(const std::string& out, const Words& more,
                    std::optional<std::chrono::milliseconds> life = {}, int signal = SIGKILL) const {
    Words arguments = {"ablate",
                       std::string(SLUICE_GOLDENS) + "/../nursery/headwise",
                       "--data",
                       path("t.jsonl"),
                       "--chunk",
                       "96",
                       "--chunks",
                       "60",
                       "--exhaustive",
                       "--plan",
                       "global,constants,layers,heads",
                       "--sample",
                       "4",
                       "--quiet",
                       "--out",
                       path(out)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_sluice(arguments, {.kill_after = life, .kill_signal = signal});
  }

  std::string result(const std::string& out) const { return content_of(path(out + "/result.json")); }
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }

 private:
  TemporaryDirectory directory_;
};

// Where it is when it dies depends on the machine; lives get longer while nothing is finished in one.
TEST_F(AblateFailure, killed_twenty_times_at_random_ends_with_the_result_of_an_undisturbed_one) {
  ASSERT_EQ(ablate("whole", {}).exit_code, 0);
  std::mt19937 random(1);
  double longest = 50;  // milliseconds
  int kills = 0, kills_with_progress = 0;
  const auto finished = [&] {
    std::error_code none;
    const auto size = fs::file_size(path("run/ablation.log"), none);
    return none ? 0 : size;
  };
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const bool enough = kills >= 20 && kills_with_progress >= 5;
    const auto life = static_cast<int>(longest * static_cast<double>(random() % 1000) / 1000);
    const auto before = finished();
    const ProgramRun ended = ablate("run", {"--resume"}, std::chrono::milliseconds(enough ? 200000 : life));
    if (ended.exit_code == 0) break;
    ASSERT_EQ(ended.exit_code, 128 + SIGKILL) << ended.err;
    ++kills;
    if (finished() > before) {
      ++kills_with_progress;
    } else {
      longest *= 1.1;
    }
  }
  EXPECT_GE(kills, 20);
  EXPECT_FALSE(result("whole").empty());
  EXPECT_EQ(result("run"), result("whole"));
}

TEST_F(AblateFailure, stopped_by_ctrl_c_says_how_to_go_on) {
  double life = 100;
  ProgramRun ended;
  for (int attempt = 0; attempt < 50; ++attempt, life *= 1.3) {
    fs::remove_all(path("run"));
    ended = ablate("run", {}, std::chrono::milliseconds(static_cast<int>(life)), SIGINT);
    if (fs::exists(path("run/ablation.log"))) break;
  }
  if (ended.exit_code == 0) GTEST_SKIP() << "it was done before it could be stopped";
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_NE(ended.err.find("--resume goes on"), std::string::npos) << ended.err;
  EXPECT_EQ(ablate("run", {"--resume"}).exit_code, 0);
  EXPECT_EQ(ablate("whole", {}).exit_code, 0);
  EXPECT_EQ(result("run"), result("whole"));
}

}  // namespace
}  // namespace sluice::test
