// Tokens that are looked for in the text before anything else, such as <|endoftext|>.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sluice/text/utf8.h"
#include "sluice/text/vocabulary.h"

namespace sluice {

struct AddedToken {
  TokenId id = -1;
  std::string content;
  bool special = false;                          // left out by a decoder that skips special tokens
  bool normalized = false;                       // looked for in the normalised text
  bool single_word = false;                      // only where no letter or digit touches it
  bool strip_left = false, strip_right = false;  // takes the white space beside it along
};

// Finds tokens in a text: the leftmost, and the longest of those that begin there.
class AddedTokenFinder {
 public:
  explicit AddedTokenFinder(const std::vector<AddedToken>& tokens);

  // Calls text(piece) and token(id) from left to right for the whole of a well-formed text.
  template <typename OnText, typename OnToken>
  void cut(std::string_view text, const OnText& on_text, const OnToken& on_token) const {
    std::size_t done = 0;
    for (Found found; find(text, done, found);) {
      if (found.begin > done) on_text(text.substr(done, found.begin - done));
      on_token(tokens_[found.token].id);
      done = found.end;
    }
    if (done < text.size()) on_text(text.substr(done));
  }

 private:
  struct Found {
    std::size_t search_from = 0;  // a token rejected here is not looked at again, nor are parts of it
    std::size_t begin = 0, end = 0;
    std::size_t token = 0;
  };

  bool find(std::string_view text, std::size_t done, Found& found) const;
  bool longest_at(std::string_view text, std::size_t at, Found& found) const;
  bool stands_alone(std::string_view text, const Found& found) const;

  static constexpr std::uint32_t kNoToken = ~std::uint32_t{0};

  std::vector<AddedToken> tokens_;
  std::array<bool, 256> begins_token_{};
  // A trie: edges by node * 256 + byte; tokens that end at each node.
  std::unordered_map<std::uint64_t, std::uint32_t> edges_;
  std::vector<std::uint32_t> ends_ = {kNoToken};
};

}  // namespace sluice
