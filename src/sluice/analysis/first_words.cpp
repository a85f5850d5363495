#include "sluice/analysis/first_words.h"

#include <set>

#include "sluice/base/error.h"

namespace sluice {

ChunkedText first_words(const ChunkedText& text, int64_t at_most) {
  if (text.begin_of_chunk)
    throw usage_error({.where = "--first-words", .what = "with --bos chunk all sequences begin alike"});
  constexpr int64_t kLength = kFirstWordTokens + 1;  // the last token is predicted, not seen
  ChunkedText words{.tokens = {}, .chunk_length = kLength, .stride = kLength};
  std::set<TokenId> begun;
  for (auto token = text.tokens.begin();
       text.tokens.end() - token >= kLength && std::ssize(begun) < at_most;) {
    if (!begun.insert(*token).second) {
      ++token;
      continue;
    }
    words.tokens.insert(words.tokens.end(), token, token + kLength);
    token += kLength;
  }
  if (begun.size() < 2)
    throw bad_input({.where = "--first-words",
                     .what = "the text is too short",
                     .expected = "two sequences of 17 tokens that begin differently"});
  return words;
}

}  // namespace sluice
