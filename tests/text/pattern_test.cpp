// Patterns as the reference reads them, on PCRE2.
#include "sluice/text/pattern.h"

#include <gtest/gtest.h>

#include "sluice/text/pattern_syntax.h"
#include "sluice/text/pre_tokenizer.h"

namespace sluice {
namespace {

std::string cut(const std::string& pattern, std::string_view text) {
  PatternScratch scratch;
  std::string joined;
  Pattern({.text = pattern, .where = "p"}).cut(text, scratch, [&](std::string_view piece) {
    joined += (joined.empty() ? "" : "|") + std::string(piece);
  });
  return joined;
}

TEST(Pattern, cuts_at_both_ends_of_each_match) {
  EXPECT_EQ(cut("b+", "abbac"), "a|bb|ac");
  EXPECT_EQ(cut("x", "abc"), "abc");
  EXPECT_EQ(cut("x", ""), "");
  EXPECT_EQ(cut("a", "aa"), "a|a");
}

TEST(Pattern, cuts_at_empty_matches) {
  EXPECT_EQ(cut("(?=b)", "abab"), "a|ba|b");
  EXPECT_EQ(cut("b*", "ab\u00e9b"), "a|b|\u00e9|b");
  EXPECT_EQ(cut("$", "a\nb"), "a|\nb") << "the end of a line";
}

TEST(Pattern, looks_behind_the_last_match) {
  EXPECT_EQ(cut("(?<=a)b|a", "abb"), "a|b|b");
}

TEST(Pattern, counts_the_reference_s_white_space) {
  for (const char* space : {"\t", "\x0b", "\u0085", "\u00a0", "\u1680", "\u2000", "\u200a", "\u2028",
                            "\u202f", "\u205f", "\u3000"}) {
    EXPECT_EQ(cut(R"(\s)", "a" + std::string(space) + "b"), "a|" + std::string(space) + "|b");
    EXPECT_EQ(cut(R"([\s,]+)", "a," + std::string(space) + "b"), "a|," + std::string(space) + "|b");
    EXPECT_EQ(cut(R"(\S+)", "a" + std::string(space) + "b"), "a|" + std::string(space) + "|b");
    EXPECT_EQ(cut(R"([\S]+)", "a" + std::string(space) + "b"), "a|" + std::string(space) + "|b");
  }
  for (const char* other : {"\u180e", "\u200b", "\u2060", "\ufeff"}) {
    const std::string text = "a" + std::string(other) + "b";
    EXPECT_EQ(cut(R"(\s)", text), text);
    EXPECT_EQ(cut(R"([\s])", text), text);
    EXPECT_EQ(cut(R"(\S+)", text), text);
    EXPECT_EQ(cut(R"([\S]+)", text), text);
    EXPECT_EQ(cut(R"([^\s]+)", text), text);
  }
}

TEST(Pattern, ignores_case_as_unicode_does) {
  EXPECT_EQ(cut("(?i:'s)", "a'Sb'\u017fc"), "a|'S|b|'\u017f|c");
}

TEST(Pattern, cuts_as_gpt2_and_qwen_do) {
  EXPECT_EQ(cut(text_of(WordPattern::Gpt2), "I'm  12 ok!\n\n x"), "I|'m| | 12| ok|!|\n\n| x");
  EXPECT_EQ(cut(text_of(WordPattern::Qwen), "I'M  12 ok!\n\n x"), "I|'M| | |1|2| ok|!\n\n| x");
}

TEST(Pattern, matches_long_runs) {
  const std::string spaces(1 << 20, ' '), letters(1 << 20, 'a');
  EXPECT_EQ(cut(text_of(WordPattern::Qwen), spaces + letters).size(), spaces.size() + letters.size() + 1);
  const std::string fewer = letters.substr(0, 1 << 17);
  EXPECT_EQ(cut("(?:a|b)+", fewer), fewer) << "needs more than the stack of compiled patterns";
}

struct Syntax {
  const char* pattern;
  const char* result;  // the translation, or what the problem begins with
};

TEST(PatternSyntax, keeps_what_both_engines_read_alike) {
  for (const char* pattern :
       {"", "a|b", R"((?:a)(?i:b)(?=c)(?!d)(?<=e)(?<!f)(?>g)(h))", R"([^\r\n\p{L}\P{N}-]?)",
        "a{2}b{2,}c{2,3}d{2,3}?", R"(\.\\\{\[\d\D\r\n\t\A\z\x{1F600})", "a++b*+c?+", "\u4e00-\u9fff"}) {
    EXPECT_EQ(to_pcre2(pattern).pattern, pattern) << to_pcre2(pattern).problem;
  }
}

TEST(PatternSyntax, rewrites_what_they_do_not) {
  for (const auto& [pattern, result] :
       std::vector<Syntax>{{R"(\u4e00\x41\v)", R"(\x{4e00}\x{41}\x{b})"}, {R"([\S-])", R"([\x{180e}\S-])"}}) {
    EXPECT_EQ(to_pcre2(pattern).pattern, result);
  }
}

TEST(PatternSyntax, refuses_the_rest) {
  for (const auto& [pattern, problem] : std::vector<Syntax>{{R"(\w)", R"("\w" is not)"},
                                                            {R"(\b)", R"("\b" is not)"},
                                                            {R"(\h)", R"("\h" is not)"},
                                                            {R"(\K)", R"("\K" is not)"},
                                                            {R"(\R)", R"("\R" is not)"},
                                                            {R"(\1)", R"("\1" is not)"},
                                                            {R"([\A])", R"("\A" is not)"},
                                                            {"a\\", "a backslash at the end"},
                                                            {"(?i)a", R"(groups that begin with "(?i")"},
                                                            {"(?<n>a)", R"(groups that begin with "(?<")"},
                                                            {"(?R)", "groups that begin"},
                                                            {"(*UTF)", R"(groups that begin with "(*U")"},
                                                            {"[a", "a class without"},
                                                            {"[]a]", R"(a class that begins with "]")"},
                                                            {"[^]a]", R"(a class that begins with "]")"},
                                                            {"[[:alpha:]]", "a class inside"},
                                                            {"[a&&b]", "a class inside"},
                                                            {R"([a-\s])", "a range that ends"},
                                                            {"a{,2}", "a brace must be"},
                                                            {"a{x}", "a brace must be"},
                                                            {"a{", "a brace must be"},
                                                            {"a{2}+", R"("+" after a repetition)"},
                                                            {"a{2}?", R"("?" after a repetition)"},
                                                            {R"(\pL)", R"(\p and \P want)"},
                                                            {R"(\p{L)", "a brace that is not"},
                                                            {R"(\x9)", "expected"},
                                                            {R"(\xE4)", "expected"},
                                                            {R"(\u12)", "expected"}}) {
    EXPECT_TRUE(to_pcre2(pattern).problem.starts_with(problem))
        << pattern << ": " << to_pcre2(pattern).problem;
    EXPECT_EQ(to_pcre2(pattern).pattern, "");
  }
}

}  // namespace
}  // namespace sluice
