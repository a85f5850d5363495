#include "sluice/text/token_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sluice {

namespace {

constexpr std::string_view kSpace = " \t\r\n";

void skip_space(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
}

std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find_first_of(", \t\r\n"));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

std::vector<TokenId> parse_ids(std::string_view text, int64_t vocabulary, const std::string& where,
                               ErrorKind kind) {
  std::vector<TokenId> ids;
  bool after_comma = false;
  for (skip_space(text); !text.empty() || after_comma; skip_space(text)) {
    const std::string_view word =
        take_word(text);  // none between two commas, before the first, behind the last
    TokenId id = -1;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (problem != std::errc() || end != word.data() + word.size() || id < 0 || id >= vocabulary) {
      throw Error(kind, {.where = where,
                         .what = word.empty() ? "a token id is missing beside a comma" : "bad token id",
                         .expected = fmt::format("integer from 0 to {}", vocabulary - 1),
                         .got = fmt::format("\"{:.40}\"", word)});
    }
    ids.push_back(id);
    skip_space(text);
    after_comma = text.starts_with(',');
    if (after_comma) text.remove_prefix(1);
  }
  return ids;
}

}  // namespace sluice
