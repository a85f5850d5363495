// sluice generate when it is interrupted; the rest is in tests/commands/generate.test.
#include <chrono>

#include "tests/cli/model_commands.h"

namespace sluice::test {
namespace {

// How long it takes to the first result depends on the machine: it gets longer until there is one.
TEST_F(ModelCommands, generate_that_is_interrupted_prints_the_prompts_that_are_done) {
  std::string many;
  for (int i = 0; i < 100000; ++i) many += "prompt " + std::to_string(i) + "\n";
  const Words command = {"generate", kModel,      "--tokenizer",       "bytes", "--max-tokens", "5",
                         "--quiet",  "--prompts", file("p.txt", many), "--json"};
  Json results;
  for (auto life = std::chrono::milliseconds(200); results.empty(); life *= 2) {
    ASSERT_LT(life, std::chrono::seconds(60));
    const ProgramRun run = run_sluice(command, {.kill_after = life, .kill_signal = SIGINT});
    ASSERT_EQ(run.exit_code, 130) << run.err;
    EXPECT_TRUE(is_one_error_line(run.err));
    if (!run.out.empty()) results = Json::parse(run.out)["results"];
  }
  ASSERT_LT(results.size(), 100000U);
  EXPECT_EQ(results[0]["prompt"], "prompt 0");
  EXPECT_EQ(results.back()["ids"].size(), 5U) << "none that is cut short";
}

}  // namespace
}  // namespace sluice::test
