#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/base/temporary_directory.h"
#include "tests/cli/help_page.h"
#include "tests/cli/run_program.h"

namespace sluice::test {
namespace {

using Words = std::vector<std::string>;

class BashCompletion : public testing::Test {
 protected:
  void SetUp() override {
    bash_ = find_program("bash");
    if (!bash_) GTEST_SKIP() << "bash is not installed";
    const ProgramRun run = run_sluice({"completion", "bash"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    script_ = directory_.file("sluice", run.out).string();
  }

  ProgramRun bash(const std::string& command, const Words& arguments = {}) const {
    Words words = {"--norc", "--noprofile", "-c", command, script_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program(*bash_, words);
  }

  // What bash would offer for "sluice …" with the cursor at the end of the last word.
  Words offers(const Words& line) const {
    const ProgramRun run = bash(
        "source \"$0\" && COMP_WORDS=(sluice \"$@\") && COMP_CWORD=$# && _sluice && "
        "if (( ${#COMPREPLY[@]} )); then printf '%s\\n' \"${COMPREPLY[@]}\"; fi",
        line);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    std::istringstream lines(run.out);
    Words offers;
    for (std::string offer; std::getline(lines, offer);) offers.push_back(offer);
    return offers;
  }

  TemporaryDirectory directory_;
  std::string script_;
  std::optional<std::string> bash_;
};

TEST_F(BashCompletion, is_valid_bash) {
  const ProgramRun run = bash("bash -n \"$0\"");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
}

TEST_F(BashCompletion, is_registered_for_sluice) {
  EXPECT_NE(bash("source \"$0\" && complete -p sluice").out.find("-F _sluice sluice"), std::string::npos);
}

TEST_F(BashCompletion, completes_commands) {
  EXPECT_EQ(offers({"doc"}), (Words{"doctor"}));
  EXPECT_EQ(offers({"--v"}), (Words{"--version"}));
  Words all = commands_in_help();
  all.insert(all.end(), {"--help", "--version"});
  EXPECT_EQ(offers({""}), all);
  EXPECT_EQ(offers({"frobnicate"}), Words());
}

TEST_F(BashCompletion, completes_the_options_of_every_command) {
  EXPECT_EQ(offers({"doctor", "--me"}), (Words{"--measure"}));
  EXPECT_EQ(offers({"doctor", "--json", "--q"}), (Words{"--quiet"}));
  for (const std::string& command : commands_in_help()) {
    Words expected;
    for (const std::string& option : help_page(command).options) expected.push_back(name_of_option(option));
    Words offered = offers({command, "--"});
    std::ranges::sort(expected);
    std::ranges::sort(offered);
    EXPECT_EQ(offered, expected) << command;
  }
}

TEST_F(BashCompletion, completes_the_values_of_options) {
  EXPECT_EQ(offers({"doctor", "--isa", ""}), (Words{"scalar", "avx2", "avx512", "avx512bf16", "amx"}));
  EXPECT_EQ(offers({"doctor", "--isa", "avx"}), (Words{"avx2", "avx512", "avx512bf16"}));
  EXPECT_EQ(offers({"doctor", "--dtype", ""}), (Words{"f32", "bf16"}));
}

TEST_F(BashCompletion, completes_arguments) {
  EXPECT_EQ(offers({"help", ""}), commands_in_help());
  EXPECT_EQ(offers({"help", "doc"}), (Words{"doctor"}));
  EXPECT_EQ(offers({"completion", ""}), (Words{"bash"}));
}

TEST_F(BashCompletion, completes_file_names_elsewhere) {
  directory_.file("model.json", "{}");
  const std::string start = (directory_.path() / "mod").string();
  EXPECT_EQ(offers({"doctor", start}), (Words{(directory_.path() / "model.json").string()}));
}

}  // namespace
}  // namespace sluice::test
