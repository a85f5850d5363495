// The tokens of a tokenizer: ids from 0 without gaps, how files spell them, and the bytes they stand for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sluice {

using TokenId = std::int32_t;

class Vocabulary {
 public:
  // Tokens by id; no two are spelt alike.
  explicit Vocabulary(std::vector<std::string> spellings);

  TokenId size() const { return static_cast<TokenId>(spellings_.size()); }
  std::optional<TokenId> find(std::string_view spelling) const;
  const std::string& spelling(TokenId id) const { return spellings_[static_cast<std::size_t>(id)]; }
  const std::string& bytes(TokenId id) const { return bytes_[static_cast<std::size_t>(id)]; }

  // The tokens of the 256 single bytes; -1 where there is none.
  const std::array<TokenId, 256>& single_bytes() const { return single_bytes_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::vector<std::string> spellings_;
  std::vector<std::string> bytes_;
  std::unordered_map<std::string, TokenId, Hash, std::equal_to<>> ids_;
  std::array<TokenId, 256> single_bytes_{};
};

}  // namespace sluice
