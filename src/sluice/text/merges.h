// Byte-pair merges: which two tokens become one, in which order, and their application to a word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sluice/text/vocabulary.h"

namespace sluice {

struct Merge {
  static constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

  std::int32_t rank = kNever;  // the smallest is applied first
  TokenId token = -1;          // what the pair becomes
};

// From pairs to merges: open addressing, at most half full.
class MergeTable {
 public:
  explicit MergeTable(std::size_t capacity = 0);

  // At most `capacity` different pairs; a pair that is there already gets the new merge.
  void set(TokenId left, TokenId right, Merge merge);
  Merge find(TokenId left, TokenId right) const;
  bool empty() const { return used_ == 0; }

  struct Entry {
    TokenId left, right;
    Merge merge;
  };
  std::vector<Entry> by_rank() const;

 private:
  struct Slot {
    std::uint64_t key = kFree;
    Merge merge;
  };
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

  const Slot& slot(std::uint64_t key) const;

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  int shift_ = 0;
};

// Applies merges to words; keeps its buffer. Each thread has one of its own.
class Merger {
 public:
  // Merges the pair of smallest rank, the leftmost of equals, until no pair has a merge.
  void apply(const MergeTable& table, std::vector<TokenId>& word);

 private:
  void apply_by_scan(const MergeTable& table, std::vector<TokenId>& word);

  std::vector<Merge> merges_;  // of the pair that begins at each place
};

}  // namespace sluice
