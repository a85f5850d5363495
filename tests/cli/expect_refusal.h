// EXPECT_REFUSAL(run, code, part): the program ended with that code and one line on stderr that contains the
// part, and printed nothing.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/cli/run_program.h"

namespace sluice::test {

inline testing::AssertionResult is_one_error_line(const std::string& text) {
  if (!text.starts_with("sluice: error: ")) return testing::AssertionFailure() << "no error line: " << text;
  if (!text.ends_with('\n') || std::ranges::count(text, '\n') != 1) {
    return testing::AssertionFailure() << "not exactly one line: " << text;
  }
  return testing::AssertionSuccess();
}

}  // namespace sluice::test

#define EXPECT_REFUSAL(run, code, part)                          \
  do {                                                           \
    const ::sluice::test::ProgramRun refused = (run);            \
    EXPECT_EQ(refused.exit_code, code);                          \
    EXPECT_EQ(refused.out, "");                                  \
    EXPECT_TRUE(::sluice::test::is_one_error_line(refused.err)); \
    EXPECT_NE(refused.err.find(part), std::string::npos)         \
        << "expected \"" << (part) << "\" in: " << refused.err;  \
  } while (false)
