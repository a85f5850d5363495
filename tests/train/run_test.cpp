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
