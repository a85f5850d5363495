#include "sluice/report/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Difference difference_of(double value, std::optional<Interval> interval, std::optional<double> margin = {}) {
  return {.what = "validation loss",
          .subject = "headwise",
          .against = "baseline",
          .value = value,
          .interval = interval,
          .n = 30,
          .counted = "chunks",
          .margin = margin};
}

Verdict verdict(double low, double high, std::optional<double> margin = {}) {
  return verdict_of(difference_of((low + high) / 2, Interval{low, high}, margin));
}

TEST(Verdict, is_higher_or_lower_if_the_interval_is_on_one_side_of_zero) {
  EXPECT_EQ(verdict(0.1, 0.3), Verdict::Higher);
  EXPECT_EQ(verdict(-0.3, -0.1), Verdict::Lower);
  EXPECT_EQ(verdict(-0.1, 0.3), Verdict::Undecided);
}

TEST(Verdict, names_how_sure_the_interval_is) {
  Difference difference = difference_of(0.2, Interval{0.1, 0.3});
  difference.error = 0.02;
  EXPECT_NE(sentence_of(difference).find("(98 % interval 0.10 to 0.30, n = 30 chunks)"), std::string::npos)
      << sentence_of(difference);
}

TEST(Verdict, is_undecided_if_the_interval_touches_zero) {
  EXPECT_EQ(verdict(0, 0.3), Verdict::Undecided);
  EXPECT_EQ(verdict(-0.3, 0), Verdict::Undecided);
  EXPECT_EQ(verdict(0, 0), Verdict::Undecided) << "without a margin nothing is equivalent";
}

TEST(Verdict, is_equivalent_if_the_interval_is_within_the_margin_ends_included) {
  EXPECT_EQ(verdict(-0.1, 0.1, 0.1), Verdict::Equivalent);
  EXPECT_EQ(verdict(-0.05, 0.05, 0.1), Verdict::Equivalent);
  EXPECT_EQ(verdict(0.01, 0.05, 0.1), Verdict::Equivalent) << "a difference that is too small to matter";
  EXPECT_EQ(verdict(0, 0, 0.0), Verdict::Equivalent);
  EXPECT_EQ(verdict(-0.1, std::nextafter(0.1, 1), 0.1), Verdict::Undecided);
  EXPECT_EQ(verdict(std::nextafter(-0.1, -1), 0.1, 0.1), Verdict::Undecided);
  EXPECT_EQ(verdict(0.05, 0.2, 0.1), Verdict::Higher);
  EXPECT_EQ(verdict(-0.2, -0.05, 0.1), Verdict::Lower);
}

TEST(Verdict, is_undecided_without_an_interval_or_a_finite_number) {
  const double nan = std::nan("");
  EXPECT_EQ(verdict_of(difference_of(5, {}, 0.1)), Verdict::Undecided);
  EXPECT_EQ(verdict_of(difference_of(nan, Interval{1, 2})), Verdict::Undecided);
  EXPECT_EQ(verdict_of(difference_of(1, Interval{nan, 2})), Verdict::Undecided);
  EXPECT_EQ(verdict_of(difference_of(1, Interval{1, nan})), Verdict::Undecided);
  EXPECT_EQ(verdict_of(difference_of(1, Interval{0.5, kInfinity})), Verdict::Undecided);
}

TEST(Verdict, refuses_an_interval_that_ends_before_it_begins_and_a_margin_that_is_none) {
  EXPECT_THROW(verdict(0.3, 0.1), AssertionError);
  EXPECT_THROW(verdict(0.1, 0.3, -0.1), AssertionError);
  EXPECT_THROW(verdict(0.1, 0.3, std::nan("")), AssertionError);
}

TEST(VerdictSentence, says_how_much_of_what_with_interval_and_n) {
  EXPECT_EQ(
      sentence_of(difference_of(0.2, Interval{0.1, 0.3})),
      "Validation loss of headwise is higher than of baseline by 0.20 (95 % interval 0.10 to 0.30, n = 30 "
      "chunks).");
  EXPECT_EQ(
      sentence_of(difference_of(-0.2, Interval{-0.3, -0.1})),
      "Validation loss of headwise is lower than of baseline by 0.20 (95 % interval 0.10 to 0.30, n = 30 "
      "chunks).");
}

TEST(VerdictSentence, says_what_does_not_follow) {
  EXPECT_EQ(
      sentence_of(difference_of(0.12, Interval{0.05, 0.19}, 0.1)),
      "Validation loss of headwise is higher than of baseline by 0.120 (95 % interval 0.050 to 0.190, n = 30 "
      "chunks). It may be less than 0.1000, the margin set beforehand, and so too little to matter.");
  EXPECT_EQ(
      sentence_of(difference_of(-0.01, Interval{-0.05, 0.03}, 0.1)),
      "Validation loss of headwise and of baseline is equivalent: the difference is -0.010 (95 % interval "
      "-0.050 to +0.030, n = 30 chunks), within the margin of ±0.1000 set beforehand. This does not show "
      "that "
      "they are the same.");
  EXPECT_EQ(sentence_of(difference_of(-0.01, Interval{-0.3, 0.28})),
            "Whether validation loss of headwise is higher or lower than of baseline is undecided: the "
            "difference is "
            "-0.01 (95 % interval -0.30 to +0.28, n = 30 chunks). This does not show that they are the same: "
            "it may "
            "be as large as -0.30.");
  Difference limited = difference_of(0.2, Interval{0.1, 0.3});
  limited.limits = "One text.";
  EXPECT_TRUE(sentence_of(limited).ends_with("chunks). One text."));
}

TEST(VerdictSentence, of_one_measurement_says_that_it_has_no_interval) {
  Difference one = difference_of(-0.2, {});
  one.n = 1;
  EXPECT_EQ(sentence_of(one),
            "Whether validation loss of headwise is higher or lower than of baseline is undecided: the "
            "difference is "
            "-0.2000, but n = 1 gives no interval.");
  EXPECT_EQ(sentence_of(difference_of(std::nan(""), Interval{0, 1})),
            "Whether validation loss of headwise is higher or lower than of baseline is undecided: the "
            "difference is "
            "not a finite number (n = 30 chunks).");
}

}  // namespace
}  // namespace sluice
