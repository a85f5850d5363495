// Results that cannot be written.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/cli/expect_refusal.h"

namespace sluice::test {
namespace {

TEST(Output, to_a_full_disk_is_a_failure) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  const std::vector<std::vector<std::string>> lines = {
      {"doctor"},        {"doctor", "--json", "--quiet"}, {"doctor", "--help"}, {"help"},
      {"help", "--man"}, {"completion", "bash"},          {"--version"}};
  for (const std::vector<std::string>& arguments : lines) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    EXPECT_REFUSAL(run_sluice(arguments, {.output_file = "/dev/full"}), 1,
                   "standard output: cannot write the result");
  }
}

}  // namespace
}  // namespace sluice::test
