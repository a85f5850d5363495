// sluice bench train as a black box.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/base/temporary_directory.h"
#include "tests/cli/expect_refusal.h"

namespace sluice::test {
namespace {

using Json = nlohmann::json;

class BenchTrain : public testing::Test {
 protected:
  BenchTrain() {
    directory_.file("run.json",
                    R"({"model": "tiny-elementwise", "sequence": 16, "batch_tokens": 64, "steps": 9})");
  }

  ProgramRun bench(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"bench",    "train", (directory_.path() / "run.json").string(),
                                          "--repeat", "2",     "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_sluice(arguments);
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(BenchTrain, tells_rate_share_parts_and_memory) {
  const ProgramRun run = bench({"--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json result = Json::parse(run.out);
  EXPECT_EQ(result["what"], "train");
  EXPECT_EQ(result["dtype"], "bf16") << "the default of a run's configuration";
  EXPECT_EQ(result["tokens"], 64);
  EXPECT_EQ(result["repetitions"], 2);
  EXPECT_GT(result["tokens_per_s"], 0.0);
  EXPECT_GT(result["share"], 0.0);
  EXPECT_GT(result["peak_resident_bytes"], 1 << 20);
  for (const char* part : {"forward", "backward", "update"}) {
    EXPECT_GT(result["seconds"][part], 0.0) << part;
    EXPECT_LT(result["seconds"][part], 2 * result["seconds"]["step"].get<double>()) << part;
  }
}

TEST_F(BenchTrain, counts_six_operations_per_token_and_weight_and_the_causal_half_of_attention) {
  // One layer, so that the sum can be done by hand: hidden 4, one head of 4, feed-forward 8, 10 tokens.
  TemporaryDirectory directory;
  directory.file("run.json", R"({"sequence": 2, "batch_tokens": 6, "steps": 9, "model": {
    "model_type": "qwen3", "vocab_size": 10, "hidden_size": 4, "intermediate_size": 8, "num_hidden_layers": 1,
    "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 4, "max_position_embeddings": 16}})");
  const ProgramRun run = run_sluice(
      {"bench", "train", (directory.path() / "run.json").string(), "--repeat", "1", "--json", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const int weights = 4 * (4 * 4) + 3 * (4 * 8) + 10 * 4;  // projections, feed-forward, output layer
  const int attended = 3 * (1 + 2);  // three sequences: the first token sees one, the second two
  EXPECT_EQ(Json::parse(run.out)["flops_per_step"], 6 * 6 * weights + 3 * 4 * 4 * attended);
}

TEST_F(BenchTrain, takes_type_and_changes_from_the_command_line) {
  const ProgramRun run = bench({"--json", "--dtype", "f32", "--set", "batch_tokens=32"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json result = Json::parse(run.out);
  EXPECT_EQ(result["dtype"], "f32");
  EXPECT_EQ(result["share_of"], "f32_gflops");
  EXPECT_EQ(result["tokens"], 32);
}

TEST_F(BenchTrain, prints_a_table) {
  const ProgramRun run = bench({});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* part : {"tokens/s", "of the peak", "forward", "parameters", "resident"}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part << " in:\n" << run.out;
  }
}

TEST_F(BenchTrain, refuses_what_it_would_ignore) {
  EXPECT_REFUSAL(bench({"--tokens", "8"}), 2, "--tokens");
  EXPECT_REFUSAL(bench({"--data", "x"}), 2, "--data");
  EXPECT_REFUSAL(bench({"--set", "batch=8"}), 3, "batch");
  EXPECT_REFUSAL(run_sluice({"bench", "train", "no/such.json"}), 3, "no/such.json");
  EXPECT_REFUSAL(run_sluice({"bench", "peak", "--set", "seed=1"}), 2, "--set");
}

}  // namespace
}  // namespace sluice::test
