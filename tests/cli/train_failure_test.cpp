// Training that is killed or runs out of disk loses nothing.
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

// Files may not grow beyond a limit: to the program that is a full disk.
TEST_F(TrainFailure, that_cannot_write_a_checkpoint_keeps_the_old_one_and_can_go_on) {
  ASSERT_EQ(train("whole").exit_code, 0);
  ASSERT_EQ(train("run", {"--set", "stop.minutes=1e-9"}).exit_code, 0);
  const std::string before = weights("run");
  Words limited = {"-c", "ulimit -f 64; exec \"$@\"", "bash", SLUICE_PROGRAM};
  const Words arguments = train_arguments("run");
  limited.insert(limited.end(), arguments.begin(), arguments.end());
  limited.push_back("--resume");
  const ProgramRun failed = run_program("/bin/bash", limited);
  EXPECT_EQ(failed.exit_code, 1) << failed.err;
  EXPECT_NE(failed.err.find("File too large"), std::string::npos) << failed.err;
  EXPECT_EQ(weights("run"), before);
  ASSERT_EQ(train("run", {"--resume"}).exit_code, 0);
  EXPECT_EQ(weights("run"), weights("whole"));
}

}  // namespace
}  // namespace sluice::test
