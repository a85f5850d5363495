#include "sluice/probe/index_set.h"

#include <gtest/gtest.h>

#include "tests/base/expect_error.h"

namespace sluice {
namespace {

// Those of 0 to 11 that the text names: "0 3 4".
std::string chosen(std::string_view text) {
  const IndexSet set = IndexSet::parse(text);
  std::string indices;
  for (int64_t i = 0; i < 12; ++i) {
    if (set.contains(i)) indices += (indices.empty() ? "" : " ") + std::to_string(i);
  }
  return indices;
}

TEST(IndexSet, has_the_numbers_and_ranges_that_were_named) {
  EXPECT_EQ(chosen("0"), "0");
  EXPECT_EQ(chosen("7,3"), "3 7");
  EXPECT_EQ(chosen("3-5"), "3 4 5");
  EXPECT_EQ(chosen("3-3"), "3");
  EXPECT_EQ(chosen("9-"), "9 10 11");
  EXPECT_EQ(chosen("0,3-5,8-"), "0 3 4 5 8 9 10 11");
  EXPECT_EQ(chosen("1,1,0-2"), "0 1 2") << "named twice is named";
  EXPECT_EQ(chosen("007"), "7");
}

TEST(IndexSet, of_a_star_or_of_nothing_is_all) {
  EXPECT_TRUE(IndexSet().is_all());
  EXPECT_TRUE(IndexSet::parse("*").is_all());
  EXPECT_TRUE(IndexSet::parse("*").contains(1'000'000'000));
  EXPECT_FALSE(IndexSet::parse("0-").is_all()) << "all that there are, but named";
}

TEST(IndexSet, of_an_open_range_has_no_end) {
  EXPECT_TRUE(IndexSet::parse("5-").contains(std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(IndexSet::parse("5-").contains(4));
}

TEST(IndexSet, knows_the_largest_index_that_was_named) {
  EXPECT_EQ(IndexSet().largest(), -1);
  EXPECT_EQ(IndexSet::parse("*").largest(), -1);
  EXPECT_EQ(IndexSet::parse("7,3").largest(), 7);
  EXPECT_EQ(IndexSet::parse("3-5,1").largest(), 5);
  EXPECT_EQ(IndexSet::parse("2,8-").largest(), 8) << "an open range names only its start";
}

TEST(IndexSet, refuses_anything_else) {
  for (const std::string text : {"",
                                 ",",
                                 "1,",
                                 ",1",
                                 "1,,2",
                                 "a",
                                 "1a",
                                 "-",
                                 "-1",
                                 "1--2",
                                 "2-1",
                                 "1-2-3",
                                 " 1",
                                 "1 ",
                                 "1, 2",
                                 "+1",
                                 "1.5",
                                 "0x1",
                                 "**",
                                 "*,1",
                                 "99999999999999999999",
                                 "1-99999999999999999999"}) {
    EXPECT_ERROR(IndexSet::parse(text), ErrorKind::Usage,
                 "bad list of indices: expected numbers and ranges such as 0,3-5,8-, got \"" + text + "\"");
  }
}

TEST(IndexSet, repeats_only_the_start_of_a_long_mistake) {
  EXPECT_ERROR(IndexSet::parse(std::string(1000, 'x')), ErrorKind::Usage,
               "bad list of indices: expected numbers and ranges such as 0,3-5,8-, got \"" +
                   std::string(40, 'x') + "\"");
}

}  // namespace
}  // namespace sluice
