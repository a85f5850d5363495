// Sums of what the passes of a step give, in an order that depends on the number of passes alone: a tree over
// them, in which neighbours are added first. Whoever has some neighbouring passes adds them up to the largest
// nodes of the tree that they fill; adding up the nodes of all gives the same bits, wherever they came from.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sluice/base/assert.h"
#include "sluice/base/threads.h"

namespace sluice {

// Node `index` of a level covers passes [index · 2^level, (index + 1) · 2^level), as far as there are any.
struct PassNode {
  int level = 0;
  int64_t index = 0;

  int64_t begin() const { return index << level; }
  bool operator==(const PassNode&) const = default;
};

// `Add` is called as add(left, right) and returns their sum. At most two values per level are kept.
template <class Value, class Add>
class PairwiseSum {
 public:
  struct Term {
    PassNode node;
    Value value;
  };

  PairwiseSum(int64_t passes, Add add) : passes_(passes), add_(std::move(add)) {}

  // From left to right, without gaps.
  void push(PassNode node, Value value) {
    terms_.push_back({node, std::move(value)});
    while (grow()) {
    }
  }

  void push(int64_t pass, Value value) { push(PassNode{0, pass}, std::move(value)); }

  // The largest nodes that could be made; one if all passes were there.
  const std::vector<Term>& terms() const { return terms_; }
  std::vector<Term> take() { return std::exchange(terms_, {}); }

 private:
  // A node without a right sibling is its parent; with its left one it becomes that.
  bool grow() {
    PassNode& last = terms_.back().node;
    const PassNode parent{last.level + 1, last.index / 2};
    if (last.index % 2 == 0) {
      const bool is_root = last.index == 0 && (int64_t{1} << last.level) >= passes_;
      if (is_root || (last.index + 1) << last.level < passes_) return false;
      last = parent;
      return true;
    }
    if (terms_.size() < 2) return false;
    Term& left = terms_[terms_.size() - 2];
    if (left.node != PassNode{last.level, last.index - 1}) return false;
    left.value = add_(std::move(left.value), std::move(terms_.back().value));
    left.node = parent;
    terms_.pop_back();
    return true;
  }

  int64_t passes_;
  Add add_;
  std::vector<Term> terms_;
};

// The nodes of passes [range), without values: what a rank that has them will send.
std::vector<PassNode> nodes_of(Range range, int64_t passes);

// Which of `count` things, as equal as possible, rank `rank` of `ranks` takes.
Range share_of(int64_t count, int rank, int ranks);

}  // namespace sluice
