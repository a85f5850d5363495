#include "sluice/text/token_ids.h"

#include <gtest/gtest.h>

#include "tests/base/expect_error.h"

namespace sluice {
namespace {

using Ids = std::vector<TokenId>;

Ids parsed(std::string_view text) {
  return parse_ids(text, 100, "--ids", ErrorKind::Usage);
}

TEST(TokenIds, are_separated_by_commas_or_white_space) {
  EXPECT_EQ(parsed("1,2,3"), (Ids{1, 2, 3}));
  EXPECT_EQ(parsed(" 1 2\t3\r\n"), (Ids{1, 2, 3}));
  EXPECT_EQ(parsed("1, 2 ,3,\n4"), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(parsed(""), Ids{});
  EXPECT_EQ(parsed(" \n"), Ids{});
}

TEST(TokenIds, are_missing_beside_a_comma_that_separates_nothing) {
  const std::string line =
      "--ids: a token id is missing beside a comma: expected integer from 0 to 99, got \"\"";
  for (const char* text : {"1,,2", "1, ,2", "1,\n,2", ",1", "1,", "1,2, ", ",", ",,"})
    EXPECT_ERROR(parsed(text), ErrorKind::Usage, line);
}

TEST(TokenIds, are_integers_of_the_vocabulary) {
  for (const std::string text : {"100", "-1", "x", "1.5", "1;2", "99999999999"})
    EXPECT_ERROR(parsed(text), ErrorKind::Usage,
                 "--ids: bad token id: expected integer from 0 to 99, got \"" + text + "\"");
}

}  // namespace
}  // namespace sluice
