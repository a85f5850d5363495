#include "sluice/base/error.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

std::string line_of(ErrorReport report) {
  return bad_input(std::move(report)).what();
}

// Bit i of `parts` says whether part i is there.
ErrorReport report_of(unsigned parts) {
  const auto part = [&](unsigned bit, const char* text) { return (parts >> bit & 1U) != 0 ? text : ""; };
  return {.where = part(0, "W"), .what = part(1, "X"), .expected = part(2, "E"), .got = part(3, "G")};
}

TEST(Error, LeavesMissingPartsOutOfTheLine) {
  const std::vector<std::string> lines = {
      "",
      "W",
      "X",
      "W: X",
      "expected E",
      "W: expected E",
      "X: expected E",
      "W: X: expected E",
      "got G",
      "W: got G",
      "X: got G",
      "W: X: got G",
      "expected E, got G",
      "W: expected E, got G",
      "X: expected E, got G",
      "W: X: expected E, got G",
  };
  for (unsigned parts = 0; parts < 16; ++parts) {
    ErrorReport report = report_of(parts);
    EXPECT_EQ(line_of(report), lines.at(parts));
    report.hint = "H";
    EXPECT_EQ(line_of(report), lines.at(parts).empty() ? "(H)" : lines.at(parts) + " (H)");
  }
}

TEST(Error, ReplacesEveryControlCharacterInEveryPart) {
  std::string controls = "\x7f";
  for (char c = 0; c < 0x20; ++c) controls += c;
  const std::string blank(controls.size(), ' ');
  EXPECT_EQ(
      line_of({.where = controls, .what = controls, .expected = controls, .got = controls, .hint = controls}),
      blank + ": " + blank + ": expected " + blank + ", got " + blank + " (" + blank + ")");
}

TEST(Error, KeepsLettersOfOtherAlphabets) {
  EXPECT_EQ(line_of({.where = "Übung/文.json", .what = "cannot open"}), "Übung/文.json: cannot open");
}

TEST(Error, KeepsTheReportAsItWasGiven) {
  const Error error = bad_input({.where = "a\nb", .what = "c"});
  EXPECT_EQ(error.report().where, "a\nb");
  EXPECT_EQ(error.report().what, "c");
}

TEST(Error, KindsAreTheExitCodesOfTheProgram) {
  EXPECT_EQ(failure({.what = "x"}).exit_code(), 1);
  EXPECT_EQ(usage_error({.what = "x"}).exit_code(), 2);
  EXPECT_EQ(bad_input({.what = "x"}).exit_code(), 3);
  EXPECT_EQ(Error(ErrorKind::Interrupted, {.what = "x"}).exit_code(), 130);
}

TEST(Error, InsideSomethingLargerIsTheSameErrorWithAnOuterPlace) {
  const Error outer = usage_error({.where = "b", .what = "c", .hint = "h"}).inside("a");
  EXPECT_STREQ(outer.what(), "a: b: c (h)");
  EXPECT_EQ(outer.kind(), ErrorKind::Usage);
  EXPECT_STREQ(bad_input({.what = "c"}).inside("a").what(), "a: c");
}

TEST(Error, IsCaughtAsAStandardException) {
  try {
    throw failure({.what = "no luck"});
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "no luck");
  }
}

}  // namespace
}  // namespace sluice
