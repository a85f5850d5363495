#include "sluice/text/markup.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Markup, takes_away_the_meaning_of_every_special_character) {
  EXPECT_EQ(escaped_markup("<a href='x'>\"&amp;\"</a>"),
            "&lt;a href=&#39;x&#39;&gt;&quot;&amp;amp;&quot;&lt;/a&gt;");
}

TEST(Markup, holds_only_characters_that_xml_can_hold) {
  EXPECT_EQ(escaped_markup(std::string("a\0b\x1b\x7f", 5)), "a b  ");
  EXPECT_EQ(escaped_markup("\xc2\x85\xef\xbf\xbe"), "  ") << "U+0085 and U+FFFE";
  EXPECT_EQ(escaped_markup("\xc3(\xff"), "\xef\xbf\xbd(\xef\xbf\xbd");
  EXPECT_EQ(escaped_markup("\xc3\xa4\xe6\xb0\xb4"), "\xc3\xa4\xe6\xb0\xb4");
}

TEST(Markup, keeps_lines_where_they_are_wanted) {
  EXPECT_EQ(escaped_markup("a\n\tb"), "a\n\tb");
  EXPECT_EQ(printable("a\n\tb\r"), "a  b ");
}

}  // namespace
}  // namespace sluice
