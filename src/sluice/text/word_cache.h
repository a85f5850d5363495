// Tokens of the words seen last. A word that comes again, as most do, is one comparison instead of a merge.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "sluice/text/vocabulary.h"

namespace sluice {

// Two places for each hash: a new word takes the first and moves the word there to the second, so the size is
// fixed. Words that are long or have many tokens are not kept.
class WordCache {
 public:
  static constexpr std::size_t kLongestWord = 23;
  static constexpr std::size_t kMostTokens = 9;

  // A word of 1 to kLongestWord bytes; its last byte holds the length, so no key is that of a free entry.
  struct Key {
    std::array<std::uint64_t, 3> words{};
    // Not by memcmp, whose call costs more than the comparison.
    bool operator==(const Key& other) const {
      return ((words[0] ^ other.words[0]) | (words[1] ^ other.words[1]) | (words[2] ^ other.words[2])) == 0;
    }
  };

  static Key key_of(std::string_view word) {
    char bytes[sizeof(Key)] = {};
    std::memcpy(bytes, word.data(), word.size());
    bytes[kLongestWord] = static_cast<char>(word.size());
    Key key;
    std::memcpy(key.words.data(), bytes, sizeof bytes);
    return key;
  }

  // Empty if the word is not there.
  std::span<const TokenId> find(const Key& key) const {
    const std::size_t place = place_of(key);
    for (const Entry* entry : {&entries_[place], &entries_[place ^ 1]}) {
      if (entry->key == key) return {entry->tokens.data(), static_cast<std::size_t>(entry->count)};
    }
    return {};
  }

  void keep(const Key& key, std::span<const TokenId> tokens) {
    if (tokens.size() > kMostTokens) return;
    const std::size_t place = place_of(key);
    entries_[place ^ 1] = entries_[place];
    Entry& entry = entries_[place];
    entry.key = key;
    entry.count = static_cast<std::int32_t>(tokens.size());
    std::copy(tokens.begin(), tokens.end(), entry.tokens.begin());
  }

 private:
  struct alignas(64) Entry {  // one cache line
    Key key;
    std::int32_t count = 0;
    std::array<TokenId, kMostTokens> tokens{};
  };
  static_assert(sizeof(Entry) == 64);

  static constexpr int kBits = 16;  // 4 MiB

  static std::size_t place_of(const Key& key) {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15U;
    std::uint64_t hash = key.words[0] * kOdd;
    hash = (hash ^ hash >> 32 ^ key.words[1]) * kOdd;
    hash = (hash ^ hash >> 32 ^ key.words[2]) * kOdd;
    return hash >> (64 - kBits);
  }

  std::vector<Entry> entries_{std::size_t{1} << kBits};
};

}  // namespace sluice
