// sluice bench neighbour as a black box.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/base/temporary_directory.h"
#include "tests/cli/expect_refusal.h"

namespace sluice::test {
namespace {

using Json = nlohmann::json;

class BenchNeighbour : public testing::Test {
 protected:
  BenchNeighbour() {
    directory_.file("run.json",
                    R"({"model": "tiny-elementwise", "sequence": 16, "batch_tokens": 64, "steps": 9})");
  }

  std::string config() const { return (directory_.path() / "run.json").string(); }

  ProgramRun bench(const std::vector<std::string>& more, const RunOptions& options = {}) const {
    std::vector<std::string> arguments = {"bench", "neighbour", config(), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_sluice(arguments, options);
  }

  // Whether all of them have gone. The system kills an orphan a moment after its parent.
  bool are_gone() const {
    for (int tries = 0; tries < 100 && processes() > 0; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return processes() == 0;
  }

 private:
  // Processes whose command line names this test's configuration: the program, and the neighbour it starts.
  int processes() const {
    int found = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline");
      std::ostringstream text;
      text << file.rdbuf();
      if (text.str().find(config()) != std::string::npos) ++found;
    }
    return found;
  }

  TemporaryDirectory directory_;
};

TEST_F(BenchNeighbour, tells_both_rates_and_their_ratio) {
  const ProgramRun run = bench({"--repeat", "1", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json result = Json::parse(run.out);
  EXPECT_EQ(result["what"], "neighbour");
  EXPECT_EQ(result["tokens"], 64);
  EXPECT_EQ(result["repetitions"], 1);
  const double alone = result["alone_tokens_per_s"], beside = result["beside_tokens_per_s"];
  EXPECT_GT(alone, 0);
  EXPECT_GT(beside, 0);
  EXPECT_NEAR(result["slowdown"], alone / beside, 1e-6) << "of a single repetition";
  EXPECT_TRUE(are_gone()) << "the neighbour has gone with the program";
}

TEST_F(BenchNeighbour, prints_lines) {
  const ProgramRun run = bench({"--repeat", "1", "--set", "batch_tokens=32"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* part : {"alone", "32 tokens a step", "beside one busy process", "slowdown"}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part << " in:\n" << run.out;
  }
}

TEST_F(BenchNeighbour, leaves_no_neighbour_behind_however_it_ends) {
  for (const int signal : {SIGINT, SIGKILL}) {
    // A second of steps alone, then the neighbour is there: it is killed at both times.
    for (const int life : {200, 1700}) {
      const ProgramRun run =
          bench({"--repeat", "1000"}, {.kill_after = std::chrono::milliseconds(life), .kill_signal = signal});
      EXPECT_EQ(run.exit_code, signal == SIGINT ? 130 : 137) << run.err;
      EXPECT_TRUE(are_gone()) << "signal " << signal << " after " << life << " ms";
    }
  }
}

TEST_F(BenchNeighbour, refuses_what_it_would_ignore) {
  EXPECT_REFUSAL(bench({"--tokens", "8"}), 2, "--tokens");
  EXPECT_REFUSAL(bench({"--dtype", "int8"}), 2, "int8");
}

}  // namespace
}  // namespace sluice::test
