#include "sluice/train/run_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sluice/train/run_presets.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

RunConfig read(const std::string& text) {
  return read_run_config(Json::parse(text, "run.json"));
}

TEST(RunConfig, written_out_it_reads_the_same) {
  const RunConfig config = read(R"({"model": "tiny-headwise", "sequence": 64, "batch_tokens": 512,
    "pass_tokens": 128, "steps": 7, "seed": 3, "dtype": "f32", "recompute": true,
    "schedule": {"kind": "warmup_stable_decay", "peak": 0.01, "warmup": 2, "decay_share": 0.3},
    "optimizer": {"beta2": 0.99, "max_norm": 0}, "validation": {"share": 0.1, "every": 3, "seed": 4, "split": "position"},
    "checkpoints": {"every": 2, "keep": 5, "file_bytes": 1000}, "stop": {"minutes": 2.5, "patience": 4},
    "sample": {"prompt": "Once", "tokens": 9},
    "init": {"gain": 0.5, "embedding": 0.1, "residual_by_depth": true, "attention_output": 0.5}})");
  EXPECT_EQ(
      config.init,
      (Initialisation{.gain = 0.5, .embedding = 0.1, .residual_by_depth = true, .attention_output = 0.5}));
  EXPECT_EQ(config.stop.patience, 4);
  EXPECT_EQ(config.validation.seed, 4U) << "the split has its own";
  EXPECT_EQ(config.validation.split, SplitRule::Position);
  EXPECT_EQ(config.sample.prompt, "Once");
  EXPECT_EQ(config.trainer.schedule.kind, ScheduleKind::WarmupStableDecay);
  EXPECT_EQ(config.trainer.precision, Precision::F32);
  EXPECT_EQ(config.pass_tokens, 128);
  const std::string written = run_config_json(config).dump();
  EXPECT_EQ(run_config_json(read(written)).dump(), written);
}

TEST(RunConfig, every_run_of_the_repository_is_read) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SLUICE_SOURCE_DIR "/configs/runs")) {
    EXPECT_NO_THROW(load_run_config(entry.path().string(), {})) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 16);
}

TEST(RunConfig, every_run_of_the_repository_is_built_in) {
  EXPECT_GE(run_presets().size(), 16U);
  for (const Preset& preset : run_presets()) {
    const std::string file = SLUICE_SOURCE_DIR "/configs/runs/" + std::string(preset.name) + ".json";
    EXPECT_EQ(run_config_json(load_run_config(std::string(preset.name), {})),
              run_config_json(load_run_config(file, {})))
        << preset.name;
  }
}

TEST(RunConfig, refuses_unknown_keys_of_a_model_that_it_describes) {
  EXPECT_BAD_INPUT(read(R"({"model": {"model_type": "qwen3", "frobnicate": 1}, "steps": 1})"),
                   "run.json: model.frobnicate: unknown key (sluice help models lists them)");
}

TEST(RunConfig, takes_its_length_in_tokens) {
  EXPECT_EQ(read(R"({"model": "tiny-g2", "batch_tokens": 1024, "sequence": 64, "tokens": 10000})").steps(),
            10);
  EXPECT_BAD_INPUT(read(R"({"model": "tiny-g2", "steps": 1, "tokens": 2})"),
                   "run.json: tokens: expected only one of steps and tokens, got 2");
}

TEST(RunConfig, refuses_patience_without_validation) {
  EXPECT_BAD_INPUT(
      read(R"({"model": "tiny-g2", "steps": 1, "validation": {"share": 0}, "stop": {"patience": 2}})"),
      "run.json: stop.patience: expected 0 for a run without validation, got 2");
}

TEST(RunConfig, changes_reach_into_a_model_that_is_only_named) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("run.json", R"({"model": "tiny-headwise", "steps": 5})").string();
  const RunConfig config = load_run_config(path, {"model.num_hidden_layers=3", "tokens=8192"});
  EXPECT_EQ(config.model.layers, 3);
  EXPECT_EQ(config.model.gates.size(), 1U);
  EXPECT_EQ(config.steps(), 2) << "tokens take the place of steps";
}

TEST(RunConfig, that_is_shorter_than_its_warm_up_says_what_to_do) {
  const TemporaryDirectory directory;
  const std::string path =
      directory.file("run.json", R"({"model": "tiny-g2", "steps": 300, "schedule": {"warmup": 30}})")
          .string();
  EXPECT_BAD_INPUT(load_run_config(path, {"steps=24"}),
                   path +
                       " with --set: schedule.warmup: expected at most 24, the steps of the run, got 30 (a "
                       "shorter run needs a shorter warm-up: --set schedule.warmup=2)");
  EXPECT_EQ(load_run_config(path, {"steps=24", "schedule.warmup=2"}).steps(), 24);
  EXPECT_EQ(load_run_config(path, {"steps=30"}).trainer.schedule.warmup, 30);
}

TEST(RunConfig, refuses_what_does_not_fit_together) {
  EXPECT_BAD_INPUT(read(R"({"model": "tiny-g2", "steps": 1, "stps": 2})"),
                   "run.json: stps: unknown key (did you mean \"steps\"?)");
  EXPECT_BAD_INPUT(read(R"({"model": "tiny-g2", "steps": 1, "sequence": 100, "batch_tokens": 250})"),
                   "run.json: batch_tokens: expected a multiple of the sequence length, 100, got 250");
  EXPECT_BAD_INPUT(
      read(R"({"model": "tiny-g2", "steps": 1, "sequence": 1024, "batch_tokens": 1024})"),
      "run.json: sequence: expected at most 512 tokens, max_position_embeddings of the model, got 1024");
  EXPECT_THROW(read(R"({"model": "tiny-g9", "steps": 1})"), Error);
}

TEST(RunConfig, takes_changes_from_the_command_line) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("run.json", R"({"model": "tiny-g2", "steps": 10})").string();
  const RunConfig config =
      load_run_config(path, {"steps=20", "schedule.kind=linear", "schedule.peak=0.5", "model=tiny-g3"});
  EXPECT_EQ(config.steps(), 20);
  EXPECT_EQ(config.trainer.schedule.kind, ScheduleKind::Linear);
  EXPECT_EQ(config.trainer.schedule.peak, 0.5);
  EXPECT_EQ(config.model.gates.front().position, GatePosition::G3);
  EXPECT_THROW(load_run_config(path, {"steps"}), Error);
  EXPECT_THROW(load_run_config(path, {"steps.more=1"}), Error);
}

}  // namespace
}  // namespace sluice
