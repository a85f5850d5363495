#include "sluice/text/merges.h"

#include <algorithm>
#include <bit>
#include <queue>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

// A scan over the ranks of a word this short is faster than a queue; its time is quadratic.
constexpr std::size_t kLongestScan = 128;

std::uint64_t key_of(TokenId left, TokenId right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

// A word whose merges wait in a queue. Places are linked to their living neighbours; one that was merged into
// its left neighbour has the token -1.
class LongWord {
 public:
  LongWord(const MergeTable& table, std::vector<TokenId>& word)
      : table_(table), tokens_(word), next_(word.size()), previous_(word.size()) {
    for (std::size_t i = 0; i < word.size(); ++i) {
      next_[i] = i + 1;
      previous_[i] = i - 1;  // of the first: kNone
    }
    for (std::size_t i = 0; i < word.size(); ++i) note(i);
  }

  void merge() {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      if (is_current(best)) merge(best);
    }
    std::erase(tokens_, -1);
  }

 private:
  struct Candidate {
    Merge merge;
    std::size_t left;
    bool operator<(const Candidate& other) const {  // the top of the queue is the largest
      return merge.rank != other.merge.rank ? merge.rank > other.merge.rank : left > other.left;
    }
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  Merge merge_at(std::size_t left) const { return table_.find(tokens_[left], tokens_[next_[left]]); }

  void note(std::size_t left) {
    if (left == kNone || next_[left] == tokens_.size()) return;
    const Merge merge = merge_at(left);
    if (merge.rank != Merge::kNever) queue_.push({merge, left});
  }

  bool is_current(const Candidate& candidate) const {
    const bool is_pair = tokens_[candidate.left] >= 0 && next_[candidate.left] < tokens_.size();
    return is_pair && merge_at(candidate.left).token == candidate.merge.token;
  }

  void merge(const Candidate& candidate) {
    const std::size_t left = candidate.left, right = next_[left];
    tokens_[left] = candidate.merge.token;
    tokens_[right] = -1;
    next_[left] = next_[right];
    if (next_[right] < tokens_.size()) previous_[next_[right]] = left;
    note(previous_[left]);
    note(left);
  }

  const MergeTable& table_;
  std::vector<TokenId>& tokens_;
  std::vector<std::size_t> next_, previous_;
  std::priority_queue<Candidate> queue_;
};

}  // namespace

MergeTable::MergeTable(std::size_t capacity)
    : slots_(std::bit_ceil(2 * capacity + 2)), shift_(64 - std::countr_zero(slots_.size())) {}

const MergeTable::Slot& MergeTable::slot(std::uint64_t key) const {
  // Fibonacci hashing: the high bits of the product depend on all bits of the key.
  auto at = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> shift_);
  while (slots_[at].key != key && slots_[at].key != kFree) at = (at + 1) & (slots_.size() - 1);
  return slots_[at];
}

void MergeTable::set(TokenId left, TokenId right, Merge merge) {
  Slot& slot = const_cast<Slot&>(this->slot(key_of(left, right)));
  if (slot.key == kFree) ++used_;
  SLUICE_ASSERT(2 * used_ <= slots_.size(), "MergeTable: more than {} merges", slots_.size() / 2);
  slot = {key_of(left, right), merge};
}

Merge MergeTable::find(TokenId left, TokenId right) const {
  return slot(key_of(left, right)).merge;
}

std::vector<MergeTable::Entry> MergeTable::by_rank() const {
  std::vector<Entry> entries;
  entries.reserve(used_);
  for (const Slot& slot : slots_) {
    if (slot.key == kFree) continue;
    entries.push_back(
        {static_cast<TokenId>(slot.key >> 32), static_cast<TokenId>(slot.key & 0xFFFFFFFF), slot.merge});
  }
  std::ranges::sort(entries, {}, [](const Entry& entry) { return entry.merge.rank; });
  return entries;
}

void Merger::apply(const MergeTable& table, std::vector<TokenId>& word) {
  if (word.size() < 2 || table.empty()) return;
  if (word.size() <= kLongestScan) {
    apply_by_scan(table, word);
  } else {
    LongWord(table, word).merge();
  }
}

void Merger::apply_by_scan(const MergeTable& table, std::vector<TokenId>& word) {
  merges_.clear();
  for (std::size_t i = 0; i + 1 < word.size(); ++i) merges_.push_back(table.find(word[i], word[i + 1]));
  for (;;) {
    const auto best = std::min_element(merges_.begin(), merges_.end(),
                                       [](const Merge& a, const Merge& b) { return a.rank < b.rank; });
    if (best == merges_.end() || best->rank == Merge::kNever) return;
    const auto at = static_cast<std::size_t>(best - merges_.begin());
    word[at] = best->token;
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    merges_.erase(best);
    if (at > 0) merges_[at - 1] = table.find(word[at - 1], word[at]);
    if (at < merges_.size()) merges_[at] = table.find(word[at], word[at + 1]);
  }
}

}  // namespace sluice
