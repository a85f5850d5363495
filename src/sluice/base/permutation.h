// A random order of 0 … size - 1 that is computed one place at a time: no list to keep, and the place where
// one stopped is a number. A Feistel network over the next power of four; what falls outside the size is sent
// through again until it falls inside (cycle walking, Black and Rogaway, "Ciphers with arbitrary finite
// domains", CT-RSA 2002).
#pragma once

#include <cstdint>

#include "sluice/base/random.h"

namespace sluice {

class Permutation {
 public:
  Permutation(std::uint64_t size, const Random& key) : size_(size), key_(key) {}

  std::uint64_t size() const { return size_; }

  // Each of 0 … size - 1 is the value of exactly one index below size.
  std::uint64_t operator()(std::uint64_t index) const;

 private:
  std::uint64_t size_;
  Random key_;
};

}  // namespace sluice
