// Whole runs of a tiny model: they learn, they can be stopped anywhere, and nothing is lost.
#include "tests/train/runs.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

TEST_F(Runs, learn) {
  RunConfig config = small_run();
  config.trainer.schedule.steps = 60;
  const RunState state = train("run", config);
  EXPECT_EQ(state.step, 60);
  EXPECT_EQ(state.tokens, 60 * 128);
  EXPECT_LT(state.best_loss, 1.0) << "ln 50 = 3.9 is chance";
}

TEST_F(Runs, give_the_same_bits_for_any_number_of_threads_and_with_recomputation) {
  train("one", small_run());
  train("two", small_run(), 1 << 30, 2);
  EXPECT_EQ(weights("two"), weights("one"));
  RunConfig recomputing = small_run();
  recomputing.trainer.activations = Activations::Recompute;
  train("recomputed", recomputing);
  EXPECT_EQ(weights("recomputed"), weights("one"));
}

TEST_F(Runs, killed_anywhere_and_resumed_end_with_the_same_weights) {
  for (const Precision precision : {Precision::Bf16, Precision::F32}) {
    const std::string tag = precision == Precision::Bf16 ? "bf16" : "f32";
    train("whole" + tag, small_run(precision));
    for (const int64_t kill : {1, 4, 7, 13, 19}) {
      const std::string name = tag + std::to_string(kill);
      train(name, small_run(precision), kill);
      train(name, small_run(precision), kill + 3);  // and once more
      train(name, small_run(precision));
      EXPECT_EQ(weights(name), weights("whole" + tag)) << "killed at step " << kill;
    }
  }
}

TEST_F(Runs, skip_a_damaged_checkpoint_for_the_one_before_it) {
  train("whole", small_run());
  train("run", small_run(), 9);
  const fs::path newest = directory_.path() / "run" / "checkpoints" / "step-000008";
  ASSERT_TRUE(fs::exists(newest));
  fs::resize_file(newest / "optimizer.safetensors", 100);
  train("run", small_run());
  EXPECT_NE(messages_.str().find("a checkpoint is skipped"), std::string::npos) << messages_.str();
  EXPECT_EQ(weights("run"), weights("whole"));
}

TEST_F(Runs, skip_a_checkpoint_in_which_one_bit_has_changed) {
  train("whole", small_run());
  train("run", small_run(), 9);
  const fs::path file = directory_.path() / "run/checkpoints/step-000008/model.safetensors";
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(fs::file_size(file) / 2);
  char byte = 0;
  stream.seekg(middle).get(byte);
  stream.seekp(middle).put(static_cast<char>(byte ^ 1));
  stream.close();
  train("run", small_run());
  EXPECT_NE(messages_.str().find("damaged: not what was written"), std::string::npos) << messages_.str();
  EXPECT_EQ(weights("run"), weights("whole"));
}

TEST_F(Runs, resumed_with_another_model_or_other_data_leave_everything_as_it_was) {
  train("run", small_run(), 9);
  const auto files = [&] {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path() / "run"))
      names.push_back(entry.path().string());
    std::ranges::sort(names);
    return names;
  };
  const std::vector<std::string> before = files();
  RunConfig other = small_run();
  other.model.feed_forward = 64;
  EXPECT_THROW(train("run", other), Error);
  RunConfig shorter = small_run();
  shorter.sequence = 64;  // far fewer sequences: the saved place does not exist
  shorter.pass_tokens = shorter.batch_tokens = 64;
  shorter.validation.share = 0.6;
  EXPECT_THROW(train("run", shorter), Error);
  EXPECT_EQ(files(), before);
  train("whole", small_run());
  train("run", small_run());
  EXPECT_EQ(weights("run"), weights("whole"));
}

TEST_F(Runs, without_any_usable_checkpoint_are_refused_and_nothing_is_lost) {
  train("run", small_run(), 9);
  for (const auto& entry : fs::directory_iterator(directory_.path() / "run" / "checkpoints"))
    fs::resize_file(entry.path() / "state.json", 3);
  EXPECT_THROW(train("run", small_run()), Error);
  EXPECT_TRUE(fs::exists(directory_.path() / "run" / "checkpoints" / "step-000008"));
}

TEST_F(Runs, keep_the_newest_checkpoints_and_the_best) {
  const RunState state = train("run", small_run());
  int64_t count = 0;
  for (const auto& entry : fs::directory_iterator(directory_.path() / "run" / "checkpoints")) {
    EXPECT_TRUE(fs::exists(entry.path() / "state.json")) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 2);
  EXPECT_LE(count, 3);
  EXPECT_TRUE(fs::exists(directory_.path() / "run" / "best" / "model.safetensors"));
  EXPECT_GT(state.best_step, 0);
}

TEST_F(Runs, stop_at_a_loss_that_is_not_finite) {
  RunConfig config = small_run();
  config.trainer.schedule.peak = 1e30;
  config.trainer.optimizer.max_norm = 0;
  try {
    train("run", config);
    FAIL() << "it trained";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Failed);
    EXPECT_NE(std::string(error.what()).find("not finite"), std::string::npos) << error.what();
  }
}

TEST_F(Runs, metrics_have_every_step_once_also_after_a_crash) {
  train("run", small_run(), 10);
  train("run", small_run());
  std::ifstream file(directory_.path() / "run" / "metrics.jsonl");
  int64_t expected = 1;
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line, "metrics");
    if (!json.contains("loss")) continue;
    EXPECT_EQ(json.integer("step"), expected++);
  }
  EXPECT_EQ(expected, 21);
}

}  // namespace
}  // namespace sluice
