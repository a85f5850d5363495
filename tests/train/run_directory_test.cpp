// Directories of runs: who may begin one, who may go on, and what is left behind.
#include "sluice/train/run_directory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

class RunDirectories : public testing::Test {
 protected:
  fs::path path(const std::string& name = "run") const { return directory_.path() / name; }

  TemporaryDirectory directory_;
};

TEST_F(RunDirectories, refuse_a_second_process) {
  const RunDirectory first = RunDirectory::create(path(), {.config = "{}"});
  EXPECT_ERROR(
      RunDirectory::open(path()), ErrorKind::Failed,
      path().string() + ": another process trains in this directory (wait for it, or choose another one)");
}

TEST_F(RunDirectories, begin_only_where_nothing_is_lost) {
  { const RunDirectory first = RunDirectory::create(path(), {.config = "{}"}); }
  EXPECT_ERROR(RunDirectory::create(path(), {.config = "{}"}), ErrorKind::Failed,
               path().string() + ": holds a run or a model already (--resume continues a run)");
  fs::create_directory(path("mine"));
  std::ofstream(path("mine") / "thesis.txt") << "x";
  EXPECT_ERROR(RunDirectory::create(path("mine"), {.config = "{}"}), ErrorKind::Failed,
               path("mine").string() + ": is not empty (give a name that does not exist yet)");
  EXPECT_FALSE(fs::exists(path("mine") / ".lock"));
}

TEST_F(RunDirectories, go_on_only_where_there_is_a_run) {
  EXPECT_ERROR(RunDirectory::open(path("none")), ErrorKind::BadInput,
               path("none").string() + ": no run to resume (it has no config.json)");
}

TEST_F(RunDirectories, begin_again_where_one_was_killed_before_it_had_a_configuration) {
  fs::create_directory(path());
  std::ofstream(path() / ".lock");
  std::ofstream(path() / "tokenizer.json") << "{}";
  std::ofstream(path() / "held-out.json") << "{}";
  std::ofstream(path() / ".sluice-0123456789abcdef.tmp") << "half";
  { const RunDirectory again = RunDirectory::create(path(), {.config = "{}"}); }
  EXPECT_FALSE(fs::exists(path() / "tokenizer.json")) << "this run has none";
  EXPECT_FALSE(fs::exists(path() / "held-out.json"));
  EXPECT_FALSE(fs::exists(path() / ".sluice-0123456789abcdef.tmp"));
  EXPECT_EQ(RunDirectory::open(path()).start(), RunStart::Resume);
}

TEST_F(RunDirectories, lose_what_a_killed_process_left_half_written_when_they_go_on) {
  { const RunDirectory first = RunDirectory::create(path(), {.config = "{}"}); }
  const fs::path half = path() / "checkpoints" / ".sluice-0123456789abcdef.tmp";
  fs::create_directory(half);
  std::ofstream(half / "model.safetensors") << "half";
  const RunDirectory found = RunDirectory::open(path());
  EXPECT_FALSE(fs::exists(half));
}

TEST_F(RunDirectories, tell_the_last_validation_that_is_whole) {
  RunDirectory directory = RunDirectory::create(path(), {.config = "{}"});
  EXPECT_FALSE(directory.last_validation().has_value());
  directory.append_metrics(nlohmann::ordered_json::parse(R"({"step":1,"validation_loss":3.5})"));
  directory.append_metrics(nlohmann::ordered_json::parse(R"({"step":2,"loss":3.0})"));
  std::ofstream(path() / "metrics.jsonl", std::ios::app) << R"({"step":2,"validation_loss":3)";
  ASSERT_TRUE(directory.last_validation().has_value());
  EXPECT_EQ(directory.last_validation()->loss, 3.5);
}

}  // namespace
}  // namespace sluice
