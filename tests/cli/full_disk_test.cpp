// Training on a disk that is really full: it stops with a message, and nothing that was there is lost.
#include <map>

#include "tests/cli/expect_refusal.h"
#include "tests/cli/small_disk.h"
#include "tests/cli/train_command.h"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;

class FullDisk : public TrainCommand {
 protected:
  void SetUp() override {
    if (!disk_.problem().empty()) GTEST_SKIP() << disk_.problem();
    ASSERT_EQ(train("whole").exit_code, 0);
    ASSERT_EQ(train("disk/run", {"--set", "stop.minutes=1e-9"}).exit_code, 0);  // a step, and its checkpoint
    before_ = content();
  }

  std::string weights(const std::string& name) const {
    return content_of(path(name + "/latest/model.safetensors"));
  }

  std::uintmax_t checkpoint_size() const {
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(path("disk/run/latest/"))) bytes += entry.file_size();
    return bytes;
  }

  // Of the checkpoints, by name.
  std::map<std::string, std::string> content() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(path("disk/run/checkpoints")))
      if (entry.is_regular_file()) files[entry.path().string()] = content_of(entry.path());
    return files;
  }

  void expect_whole_run_after_making_room() {
    EXPECT_EQ(content(), before_) << "what was there is as it was, and nothing half-written is beside it";
    EXPECT_EQ(run({"params", path("disk/run/latest")}).exit_code, 0);
    ASSERT_TRUE(disk_.leave_plenty());
    const ProgramRun resumed = train("disk/run", {"--resume"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_EQ(weights("disk/run"), weights("whole"));
    const ProgramRun plotted = run({"plot", path("disk/run"), "--out", path("curves.svg"), "--json"});
    ASSERT_EQ(plotted.exit_code, 0) << plotted.err;
    const auto loss = nlohmann::json::parse(plotted.out)["panels"][0]["series"][0];
    EXPECT_EQ(loss["points"], 6) << "every step once";
  }

  SmallDisk disk_{path("disk")};
  std::map<std::string, std::string> before_;
};

TEST_F(FullDisk, within_a_checkpoint_keeps_the_one_before_and_can_go_on) {
  ASSERT_TRUE(disk_.leave(checkpoint_size() / 2));
  EXPECT_REFUSAL(train("disk/run", {"--resume"}), 1, "No space left on device");
  EXPECT_REFUSAL(train("disk/run", {"--resume"}), 1, "No space left on device");
  expect_whole_run_after_making_room();
}

TEST_F(FullDisk, with_no_byte_left_keeps_everything_and_can_go_on) {
  ASSERT_TRUE(disk_.leave(0));
  EXPECT_REFUSAL(train("disk/run", {"--resume"}), 1, "No space left on device");
  expect_whole_run_after_making_room();
}

TEST_F(FullDisk, that_fills_up_with_metrics_can_go_on_when_there_is_room) {
  const auto train_rarely_saving = [&](Words more) {
    more.insert(more.end(), {"--set", "checkpoints.every=100000", "--set", "validation.every=100000"});
    return train("disk/long", more);
  };
  ASSERT_EQ(train_rarely_saving({"--set", "stop.minutes=1e-9"}).exit_code, 0);
  ASSERT_TRUE(disk_.leave(32 << 10));
  EXPECT_REFUSAL(train_rarely_saving({"--resume", "--set", "steps=100000"}), 1, "No space left on device");
  ASSERT_TRUE(disk_.leave_plenty());
  ASSERT_EQ(train_rarely_saving({"--resume"}).exit_code, 0);
  EXPECT_EQ(weights("disk/long"), weights("whole"));
}

TEST_F(FullDisk, from_the_beginning_leaves_a_directory_where_a_run_can_begin) {
  ASSERT_TRUE(disk_.leave(0));
  EXPECT_REFUSAL(train("disk/new"), 1, "No space left on device");
  ASSERT_TRUE(disk_.leave_plenty());
  const ProgramRun again =
      train("disk/new", fs::exists(path("disk/new/config.json")) ? Words{"--resume"} : Words{});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(weights("disk/new"), weights("whole"));
}

}  // namespace
}  // namespace sluice::test
