#include "tests/cli/help_page.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/cli/run_program.h"

namespace sluice::test {
namespace {

// The left column of the lines between a heading and the next empty line. Lines that continue the right
// column are indented deeper.
std::vector<std::string> entries(const std::string& text, const std::string& heading) {
  std::vector<std::string> entries;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line) && line != heading + ":") continue;
  while (std::getline(lines, line) && !line.empty()) {
    if (line.starts_with("  ") && line[2] != ' ') entries.push_back(line.substr(2, line.find("  ", 2) - 2));
  }
  return entries;
}

}  // namespace

std::vector<std::string> commands_in_help() {
  return entries(run_sluice({"help"}).out, "Commands");
}

HelpPage help_page(const std::string& command) {
  const ProgramRun run = run_sluice({"help", command});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return {entries(run.out, "Arguments"), entries(run.out, "Options")};
}

std::string name_of_option(const std::string& signature) {
  return signature.substr(0, signature.find(' '));
}

}  // namespace sluice::test
