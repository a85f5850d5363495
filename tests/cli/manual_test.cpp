#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/base/temporary_directory.h"
#include "tests/cli/help_page.h"
#include "tests/cli/run_program.h"

namespace sluice::test {
namespace {

std::string man_page() {
  const ProgramRun run = run_sluice({"help", "--man"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.out;
}

// In roff a plain hyphen may become a dash.
std::string with_hyphens(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '-' ? "\\-" : std::string(1, c);
  return escaped;
}

TEST(ManPage, has_a_section_for_every_command) {
  const std::string page = man_page();
  for (const std::string& command : commands_in_help()) {
    EXPECT_NE(page.find(".SS " + with_hyphens(command) + "\n"), std::string::npos) << command;
  }
}

TEST(ManPage, names_every_argument_and_option_of_a_command_in_its_section) {
  const std::string page = man_page();
  for (const std::string& command : commands_in_help()) {
    const size_t begin = page.find(".SS " + with_hyphens(command) + "\n");
    ASSERT_NE(begin, std::string::npos);
    const std::string section = page.substr(begin, page.find("\n.S", begin + 1) - begin);
    const HelpPage help = help_page(command);
    std::vector<std::string> entries = help.arguments;
    entries.insert(entries.end(), help.options.begin(), help.options.end());
    for (const std::string& entry : entries) {
      EXPECT_NE(section.find("\n.B " + with_hyphens(entry) + "\n"), std::string::npos)
          << entry << " is not in the section of " << command;
    }
  }
}

TEST(ManPage, tells_the_exit_codes_and_the_environment) {
  const std::string page = man_page();
  for (const char* part : {".SH EXIT STATUS", ".B 130\n", ".SH ENVIRONMENT", ".B SLUICE_ISA\n"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

TEST(ManPage, renders_without_a_warning) {
  const auto groff = find_program("groff");
  if (!groff) GTEST_SKIP() << "groff is not installed";
  const TemporaryDirectory directory;
  const std::string file = directory.file("sluice.1", man_page()).string();
  const ProgramRun run = run_program(*groff, {"-man", "-Kutf8", "-Tutf8", "-ww", file});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find("doctor"), std::string::npos);
}

}  // namespace
}  // namespace sluice::test
