// How the token axis of a batch is cut into sequences.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sluice/base/assert.h"

namespace sluice {

class Sequences {
 public:
  static Sequences equal(int64_t count, int64_t length) {
    return of_lengths(std::vector<int64_t>(static_cast<size_t>(count), length));
  }

  static Sequences of_lengths(const std::vector<int64_t>& lengths) {
    Sequences sequences;
    for (const int64_t length : lengths) {
      SLUICE_ASSERT(length >= 0, "sequences: negative length {}", length);
      sequences.starts_.push_back(sequences.tokens() + length);
      sequences.longest_ = length > sequences.longest_ ? length : sequences.longest_;
    }
    return sequences;
  }

  int64_t count() const { return static_cast<int64_t>(starts_.size()) - 1; }
  int64_t tokens() const { return starts_.back(); }
  int64_t longest() const { return longest_; }
  int64_t length(int64_t sequence) const { return starts_[sequence + 1] - starts_[sequence]; }
  const std::vector<int64_t>& starts() const { return starts_; }  // [count + 1]

 private:
  std::vector<int64_t> starts_ = {0};
  int64_t longest_ = 0;
};

}  // namespace sluice
