// Whole runs of a tiny model: they learn, they can be stopped anywhere, and nothing is lost.
#include "sluice/train/run.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "sluice/data/token_shard_writer.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

// Documents in which every token follows from the one before: easy to learn.
fs::path write_shard(const TemporaryDirectory& directory) {
  const fs::path path = directory.path() / "text.tokens";
  TokenShardWriter writer(path, {.vocabulary = 50, .end_of_text = 49});
  for (int document = 0; document < 60; ++document) {
    std::vector<TokenId> ids;
    for (int i = 0; i < 40; ++i) ids.push_back((document * 5 + i * 3) % 49);
    writer.add(ids, ids.size());
  }
  writer.commit();
  return path;
}

RunConfig small_run(Precision precision = Precision::Bf16) {
  RunConfig config;
  config.model = {.vocabulary = 50,
                  .hidden = 32,
                  .layers = 2,
                  .heads = 4,
                  .kv_heads = 2,
                  .head_dim = 8,
                  .feed_forward = 48,
                  .positions = 64,
                  .tied = true,
                  .rotary = 8,
                  .gate_layout = GateLayout::PackedPerGroup,
                  .gates = {{}}};
  config.sequence = 16;
  config.batch_tokens = 128;
  config.pass_tokens = 64;
  config.validation = {.share = 0.2, .every = 5, .sequences = 4};
  config.checkpoints = {.every = 4, .keep = 2};
  config.trainer = {.schedule = {.peak = 1e-2, .warmup = 3, .steps = 20}, .precision = precision};
  return config;
}

class Runs : public testing::Test {
 protected:
  // Trains in `name` until `until` steps are taken, as if the process had been killed there.
  RunState train(const std::string& name, const RunConfig& config, int64_t until = 1 << 30, int threads = 1) {
    const fs::path path = directory_.path() / name;
    Engine engine({.threads = threads});
    const RunStart start = fs::exists(path) ? RunStart::Resume : RunStart::New;
    RunDirectory run_directory(path, start);
    if (start == RunStart::New) std::ofstream(path / "config.json") << "{}";
    sluice::Run run(engine, config, run_directory, {.shards = {TokenShard(shard_)}, .start = start}, log_);
    struct Killed {};
    try {
      run.train({.stepped = [&](const StepResult&, const RunState& state) {
        if (state.step >= until) throw Killed{};
      }});
    } catch (const Killed&) {
    }
    return run.state();
  }

  std::string weights(const std::string& name) const {
    std::ifstream file(directory_.path() / name / "latest" / "model.safetensors", std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    EXPECT_FALSE(bytes.str().empty());
    return bytes.str();
  }

  TemporaryDirectory directory_;
  fs::path shard_ = write_shard(directory_);
  std::ostringstream messages_;
  Log log_{LogLevel::Normal, messages_};
};

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

TEST_F(Runs, refuse_a_second_process_and_a_directory_with_files) {
  const fs::path path = directory_.path() / "run";
  const RunDirectory first(path, RunStart::New);
  std::ofstream(path / "config.json") << "{}";
  EXPECT_THROW(RunDirectory(path, RunStart::Resume), Error) << "locked";
  EXPECT_THROW(RunDirectory(path, RunStart::New), Error) << "not empty";
  EXPECT_THROW(RunDirectory(directory_.path() / "none", RunStart::Resume), Error) << "no run";
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
