#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/cli/help_page.h"
#include "tests/cli/run_program.h"

namespace sluice::test {
namespace {

std::string printed(const std::vector<std::string>& arguments) {
  const ProgramRun run = run_sluice(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(run.out.ends_with('\n'));
  return run.out;
}

TEST(Help, lists_the_commands_and_the_exit_codes) {
  const std::string text = printed({"help"});
  for (const char* part : {"Usage: sluice COMMAND", "\n  0 ", "\n  1 ", "\n  2 ", "\n  3 ", "\n  130 "}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

TEST(Help, is_the_same_by_option) {
  EXPECT_EQ(printed({"--help"}), printed({"help"}));
  EXPECT_EQ(printed({"-h"}), printed({"help"}));
}

TEST(Help, of_a_command_is_the_same_by_option) {
  for (const std::string& command : commands_in_help()) {
    EXPECT_EQ(printed({command, "--help"}), printed({"help", command}));
    EXPECT_EQ(printed({command, "-h"}), printed({"help", command}));
  }
}

TEST(Help, of_a_command_shows_usage_and_the_common_options) {
  for (const std::string& command : commands_in_help()) {
    const std::string text = printed({"help", command});
    EXPECT_NE(text.find("Usage: sluice " + command), std::string::npos) << text;
    for (const char* option : {"--json", "--threads N", "--dtype TYPE", "--isa NAME", "--quiet", "--help"}) {
      EXPECT_NE(text.find("\n  " + std::string(option)), std::string::npos) << option << " is not in\n"
                                                                            << text;
    }
  }
}

TEST(Help, fits_a_terminal) {
  std::vector<std::string> pages = {printed({"help"})};
  for (const std::string& command : commands_in_help()) pages.push_back(printed({"help", command}));
  for (std::string& page : pages) {
    page.erase(std::min(page.find("\nExamples:"), page.size()));  // lines to copy, never cut
    page += '\n';
    for (size_t begin = 0; begin < page.size();) {
      const size_t end = page.find('\n', begin);
      EXPECT_LE(end - begin, 80U) << page.substr(begin, end - begin);
      begin = end + 1;
    }
  }
}

TEST(Version, is_one_line) {
  EXPECT_EQ(printed({"--version"}), "sluice " SLUICE_VERSION "\n");
  EXPECT_EQ(printed({"-V"}), "sluice " SLUICE_VERSION "\n");
}

}  // namespace
}  // namespace sluice::test
