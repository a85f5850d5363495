#include "sluice/plot/text_width.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

const TextStyle kStyle{.size = 10};

TEST(TextWidth, is_that_of_the_letters) {
  EXPECT_DOUBLE_EQ(text_width("", kStyle), 0);
  EXPECT_DOUBLE_EQ(text_width("ab", kStyle), 12.48);
  EXPECT_GT(text_width("ab", {.size = 10, .weight = FontWeight::Bold}), 12.48);
  EXPECT_GT(text_width("\xe6\xb0\xb4", kStyle), text_width("W", kStyle)) << "one wide character";
}

TEST(TextWidth, text_that_is_too_long_is_cut_between_characters) {
  EXPECT_EQ(fitted("short", kStyle, 100), "short");
  EXPECT_EQ(fitted("a rather long name", kStyle, 50), "a rather...");
  EXPECT_LE(text_width(fitted("a rather long name", kStyle, 50), kStyle), 50);
  EXPECT_EQ(fitted("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", kStyle, 20), "\xc3\xa4...");
  EXPECT_EQ(fitted("name", kStyle, 0), "...");
}

TEST(TextWidth, a_megabyte_is_cut_and_wrapped_in_one_pass) {
  const std::string huge(1 << 20, 'm');
  EXPECT_EQ(fitted(huge, kStyle, 50), "mmmm...");
  EXPECT_EQ(wrapped(huge, kStyle, 1000).size(), 10281U);
}

}  // namespace
}  // namespace sluice
