// Training that is killed loses nothing.
#include <csignal>
#include <random>

#include "tests/cli/train_command.h"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;

constexpr int kKilled = 128 + SIGKILL;

class TrainFailure : public TrainCommand {
 protected:
  std::string weights(const std::string& name) const {
    return content_of(path(name + "/latest/model.safetensors"));
  }

  // As `train`, but ended by SIGKILL at that time unless it has ended by then.
  ProgramRun train_until(const std::string& out, std::chrono::milliseconds life, const Words& more) const {
    Words arguments = train_arguments(out);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_sluice(arguments, {.kill_after = life});
  }
};

// Where the steps and files of a run are when it dies depends on the machine; the lives are as long as it
// takes to get anywhere, and no longer, so that there are twenty of them on a fast one, too.
TEST_F(TrainFailure, killed_twenty_times_at_random_ends_with_the_weights_of_an_undisturbed_run) {
  const Words length = {"--set", "steps=400", "--set", "checkpoints.every=3"};
  ASSERT_EQ(train("whole", length).exit_code, 0);
  std::mt19937 random(1);
  double longest = 50;  // milliseconds
  int kills = 0, kills_with_progress = 0;
  const auto newest = [&] {
    std::error_code none;
    return fs::read_symlink(path("run/latest"), none).string();
  };
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const bool enough = kills >= 20 && kills_with_progress >= 5;
    const auto life = static_cast<int>(longest * static_cast<double>(random() % 1000) / 1000);
    const std::string before = newest();
    Words more = length;
    if (fs::exists(path("run/config.json"))) more.push_back("--resume");
    const ProgramRun ended = train_until("run", std::chrono::milliseconds(enough ? 100000 : life), more);
    if (ended.exit_code == 0) break;
    ASSERT_EQ(ended.exit_code, kKilled) << ended.err;
    ++kills;
    if (newest() != before) {
      ++kills_with_progress;
    } else {
      longest *= 1.1;
    }
  }
  EXPECT_GE(kills, 20);
  EXPECT_GE(kills_with_progress, 5) << "they died before they had done anything";
  EXPECT_FALSE(weights("whole").empty());
  EXPECT_EQ(weights("run"), weights("whole"));
  for (const auto& entry : fs::recursive_directory_iterator(path("run")))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".sluice-")) << entry.path();
}

}  // namespace
}  // namespace sluice::test
