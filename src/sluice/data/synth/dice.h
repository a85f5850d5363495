// Random choices one after the other, for texts that are made from front to back. The order in which C++
// evaluates the operands of an expression is the compiler's: for the same text from each of them, no
// expression may throw the dice in two of its operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sluice/base/permutation.h"
#include "sluice/base/random.h"

namespace sluice::synth {

class Dice {
 public:
  explicit Dice(const Random& random) : random_(random) {}

  size_t below(size_t n) { return static_cast<size_t>(random_.below(next_++, n)); }
  int between(int low, int high) {
    const int values = high - low + 1;
    return low + static_cast<int>(below(static_cast<size_t>(values)));
  }
  bool chance(double share) { return random_.uniform(next_++) < share; }

  template <typename Table>
  const auto& pick(const Table& table) {
    return table[below(std::size(table))];
  }

  // `count` different numbers below `size`, in random order.
  std::vector<size_t> distinct(size_t count, size_t size) {
    const Permutation order(size, random_.child(next_++));
    std::vector<size_t> numbers;
    for (size_t i = 0; i < count; ++i) numbers.push_back(static_cast<size_t>(order(i)));
    return numbers;
  }

 private:
  Random random_;
  uint64_t next_ = 0;
};

}  // namespace sluice::synth
