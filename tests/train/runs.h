// Whole runs of a tiny model, in a directory of their own.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "sluice/data/token_shard_writer.h"
#include "sluice/train/run.h"
#include "tests/base/temporary_directory.h"
#include "tests/model/small_model.h"

namespace sluice {

// Documents in which every token follows from the one before: easy to learn.
inline std::filesystem::path write_shard(const TemporaryDirectory& directory) {
  const std::filesystem::path path = directory.path() / "text.tokens";
  TokenShardWriter writer(path, {.vocabulary = 50, .end_of_text = 49});
  for (int document = 0; document < 60; ++document) {
    std::vector<TokenId> ids;
    for (int i = 0; i < 40; ++i) ids.push_back((document * 5 + i * 3) % 49);
    writer.add(ids, ids.size());
  }
  writer.commit();
  return path;
}

// A mixture of experts, and its gated twin.
inline ModelConfig small_experts(GateLayout layout) {
  ModelConfig config =
      layout == GateLayout::None ? small_model() : small_model(GateLayout::PackedPerGroup, {{}});
  config.tied = true;
  config.moe = {.experts = 6,
                .experts_per_token = 2,
                .expert_width = 16,
                .normalised = true,
                .shared_width = 8,
                .sparse_step = 1};
  return config;
}

inline RunConfig small_run(Precision precision = Precision::Bf16) {
  RunConfig config;
  config.model = small_model(GateLayout::PackedPerGroup, {{}});
  config.model.tied = true;
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
  using Path = std::filesystem::path;

  // Trains in `name` until `until` steps are taken, as if the process had been killed there.
  RunState train(const std::string& name, const RunConfig& config, int64_t until = 1 << 30, int threads = 1) {
    const Path path = directory_.path() / name;
    Engine engine({.threads = threads});
    RunDirectory run_directory = std::filesystem::exists(path) ? RunDirectory::open(path)
                                                               : RunDirectory::create(path, {.config = "{}"});
    sluice::Run run({.engine = engine,
                     .config = config,
                     .directory = &run_directory,
                     .shards = {TokenShard(shard_)},
                     .control = control_});
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
  Path shard_ = write_shard(directory_);
  std::ostringstream messages_;
  Log log_{LogLevel::Normal, messages_};
  JobControl control_{.log = &log_};
};

}  // namespace sluice
