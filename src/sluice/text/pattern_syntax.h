// From the regular expressions of tokenizer files, which the reference reads as Oniguruma's, to PCRE2's.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

// Either a pattern that matches the same in PCRE2 (UTF, UCP, MULTILINE), or the problem that prevents it.
struct PatternTranslation {
  std::string pattern;
  std::string problem;
};

// What both engines read alike is kept, white space is spelt out, and all else is a problem: an escape or
// group that means something else would split words at other places without a sign of it.
PatternTranslation to_pcre2(std::string_view pattern);

}  // namespace sluice
