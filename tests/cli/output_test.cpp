// Results that cannot be written.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/cli/expect_refusal.h"

namespace sluice::test {
namespace {

class Output : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Output, to_a_full_disk_is_a_failure) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  EXPECT_REFUSAL(run_sluice(GetParam(), {.output_file = "/dev/full"}), 1,
                 "standard output: cannot write the result");
}

INSTANTIATE_TEST_SUITE_P(
    Program, Output,
    testing::Values(std::vector<std::string>{"doctor"},
                    std::vector<std::string>{"doctor", "--json", "--quiet"}, std::vector<std::string>{"help"},
                    std::vector<std::string>{"help", "--man"}, std::vector<std::string>{"doctor", "--help"},
                    std::vector<std::string>{"completion", "bash"}, std::vector<std::string>{"--version"}));

}  // namespace
}  // namespace sluice::test
