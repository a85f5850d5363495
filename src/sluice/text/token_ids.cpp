#include "sluice/text/token_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sluice {

std::vector<TokenId> parse_ids(std::string_view text, int64_t vocabulary, const std::string& where,
                               ErrorKind kind) {
  constexpr std::string_view kBetween = ", \t\r\n";
  std::vector<TokenId> ids;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) return ids;
    const std::string_view word = text.substr(0, text.find_first_of(kBetween));
    TokenId id = -1;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (problem != std::errc() || end != word.data() + word.size() || id < 0 || id >= vocabulary) {
      throw Error(kind, {.where = where,
                         .what = "bad token id",
                         .expected = fmt::format("integer from 0 to {}", vocabulary - 1),
                         .got = fmt::format("\"{:.40}\"", word)});
    }
    ids.push_back(id);
    text.remove_prefix(word.size());
  }
}

}  // namespace sluice
