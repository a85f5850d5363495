// Text, tokens and a configuration of a tiny run, for tests of the commands that train.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/base/temporary_directory.h"
#include "tests/cli/run_program.h"

namespace sluice::test {

using Words = std::vector<std::string>;

inline std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class TrainCommand : public testing::Test {
 protected:
  TrainCommand() {
    EXPECT_EQ(run({"data", "synth", "--out", path("t.jsonl"), "--documents", "40"}).exit_code, 0);
    EXPECT_EQ(run({"data", "tokenize", "bytes", path("t.jsonl"), "--out", path("t.tokens")}).exit_code, 0);
    directory_.file("run.json", R"({"model": "tiny-headwise", "sequence": 32, "batch_tokens": 128, "steps": 6,
      "validation": {"share": 0.2, "every": 3, "sequences": 2}, "checkpoints": {"every": 2}})");
  }

  static ProgramRun run(Words arguments) {
    arguments.push_back("--quiet");
    return run_sluice(arguments);
  }

  Words train_arguments(const std::string& out) const {
    return {"train", path("run.json"), "--data", path("t.tokens"), "--out", path(out), "--quiet"};
  }

  ProgramRun train(const std::string& out, const Words& more = {}) const {
    Words arguments = {"train", path("run.json"), "--data", path("t.tokens"), "--out", path(out)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  std::string path(const std::string& name = "") const { return (directory_.path() / name).string(); }

 private:
  TemporaryDirectory directory_;
};

}  // namespace sluice::test
