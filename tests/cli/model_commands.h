// What the tests of commands that work on a model share. The models are the tiny official checkpoints, whose
// tokens are bytes below 128.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/base/temporary_directory.h"
#include "tests/cli/expect_refusal.h"
#include "tests/cli/tensor_file.h"

namespace sluice::test {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

inline const std::vector<std::string> kGoldens = {"tiny_baseline", "tiny_gate_headwise",
                                                  "tiny_gate_elementwise"};

inline std::string golden(const std::string& name) {
  return std::string(SLUICE_GOLDENS) + "/" + name;
}

inline const std::string kModel = golden("tiny_gate_elementwise");

class ModelCommands : public testing::Test {
 protected:
  // What a command prints that succeeds and has nothing to say beside it.
  static std::string printed(const Words& arguments, const RunOptions& options = {}) {
    const ProgramRun run = run_sluice(arguments, options);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    return run.out;
  }

  static Json json(Words arguments, const RunOptions& options = {}) {
    arguments.insert(arguments.end(), {"--json", "--quiet"});
    const std::string text = printed(arguments, options);
    EXPECT_TRUE(text.ends_with('\n'));
    return Json::parse(text, nullptr, false);
  }

  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
  std::string file(const std::string& name, std::string_view content) const {
    return directory_.file(name, content).string();
  }

  TemporaryDirectory directory_;
};

inline void expect_near(const std::vector<float>& got, const std::vector<float>& expected, float tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], tolerance) << "element " << i;
}

// "12 7 33": the tokens that the official code was run on.
inline std::string golden_ids(const std::string& name, const char* between) {
  std::string ids;
  for (const int64_t id : TensorFile(golden(name) + "/expected.safetensors").values<int64_t>("input_ids"))
    ids += (ids.empty() ? "" : between) + std::to_string(id);
  return ids;
}

}  // namespace sluice::test
