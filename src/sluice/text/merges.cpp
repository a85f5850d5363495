#include "sluice/text/merges.h"

#include <algorithm>
#include <bit>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

// A scan over the ranks of a word this short is faster than a queue; its time is quadratic.
constexpr std::size_t kLongestScan = 128;

std::uint64_t key_of(TokenId left, TokenId right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

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

void Merger::apply(const MergeTable& table, std::vector<TokenId>& word) {
  if (word.size() < 2 || table.empty()) return;
  if (word.size() <= kLongestScan) {
    apply_by_scan(table, word);
  } else {
    apply_by_queue(table, word);
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

// Places are linked to their living neighbours; a place that was merged into its left neighbour has the token
// -1. A candidate is out of date if its pair no longer becomes the token that it was noted with.
void Merger::apply_by_queue(const MergeTable& table, std::vector<TokenId>& word) {
  const auto size = static_cast<std::int32_t>(word.size());
  const auto token = [&](std::int32_t place) -> TokenId& { return word[static_cast<std::size_t>(place)]; };
  const auto next = [&](std::int32_t place) -> std::int32_t& { return next_[static_cast<std::size_t>(place)]; };
  next_.resize(word.size());
  previous_.resize(word.size());
  queue_.clear();
  const auto note = [&](std::int32_t left) {
    if (left < 0 || next(left) == size) return;
    const Merge merge = table.find(token(left), token(next(left)));
    if (merge.rank != Merge::kNever) queue_.push_back({merge.rank, left, merge.token});
  };
  for (std::int32_t i = 0; i < size; ++i) {
    next(i) = i + 1;
    previous_[static_cast<std::size_t>(i)] = i - 1;
  }
  for (std::int32_t i = 0; i + 1 < size; ++i) note(i);
  std::make_heap(queue_.begin(), queue_.end());
  const auto note_in_heap = [&](std::int32_t left) {
    const std::size_t before = queue_.size();
    note(left);
    if (queue_.size() > before) std::push_heap(queue_.begin(), queue_.end());
  };

  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end());
    const Candidate best = queue_.back();
    queue_.pop_back();
    if (token(best.left) < 0 || next(best.left) == size) continue;
    const std::int32_t right = next(best.left);
    if (table.find(token(best.left), token(right)).token != best.token) continue;
    token(best.left) = best.token;
    token(right) = -1;
    next(best.left) = next(right);
    if (next(right) < size) previous_[static_cast<std::size_t>(next(right))] = best.left;
    note_in_heap(previous_[static_cast<std::size_t>(best.left)]);
    note_in_heap(best.left);
  }
  std::erase(word, -1);
}

}  // namespace sluice
