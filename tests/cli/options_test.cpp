// The option list is a promise to users and their scripts, so it is written down once more in
// pinned_options.txt.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/cli/help_page.h"

namespace sluice::test {
namespace {

// "doctor: --measure, --json, …": arguments, then options.
std::string line_of(const std::string& command) {
  const HelpPage page = help_page(command);
  std::vector<std::string> all = page.arguments;
  all.insert(all.end(), page.options.begin(), page.options.end());
  std::string line = command + ":";
  for (size_t i = 0; i < all.size(); ++i) line += (i == 0 ? " " : ", ") + all[i];
  return line + "\n";
}

TEST(Options, are_those_that_are_pinned) {
  std::ifstream file(SLUICE_PINNED_OPTIONS);
  const std::string pinned{std::istreambuf_iterator<char>(file), {}};
  std::string current;
  for (const std::string& command : commands_in_help()) current += line_of(command);
  EXPECT_EQ(current, pinned)
      << "The commands or their options changed. If that is what you want, write the list of \"current\" to "
         "tests/cli/pinned_options.txt and tell users in CHANGELOG.md. It is:\n"
      << current;
}

TEST(Options, of_every_command_end_in_help) {
  for (const std::string& command : commands_in_help()) {
    ASSERT_FALSE(help_page(command).options.empty()) << command;
    EXPECT_EQ(help_page(command).options.back(), "--help") << command;
  }
}

}  // namespace
}  // namespace sluice::test
