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

// The moments are random on purpose, and the seed is printed: every run of the test looks elsewhere.
TEST_F(TrainFailure, killed_at_twenty_random_moments_ends_with_the_weights_of_an_undisturbed_run) {
  const Words length = {"--set", "steps=150", "--set", "checkpoints.every=3"};
  ASSERT_EQ(train("whole", length).exit_code, 0);
  std::random_device source;
  const unsigned seed = source();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  // Long enough for some steps now and then, grown if the machine is so busy that there are none.
  int longest = 250, kills = 0;
  for (int attempt = 0; attempt < 2000; ++attempt) {
    const int life = kills < 20 ? static_cast<int>(random() % static_cast<unsigned>(longest)) : 100000;
    Words more = length;
    if (fs::exists(path("run/config.json"))) more.push_back("--resume");
    const ProgramRun ended = train_until("run", std::chrono::milliseconds(life), more);
    if (ended.exit_code == 0) break;
    ASSERT_EQ(ended.exit_code, kKilled) << ended.err;
    ++kills;
  }
  EXPECT_GE(kills, 20);
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
