// A word of the training text as its tokens so far, and how a merge changes it. Part of the trainer.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sluice/text/vocabulary.h"

namespace sluice {

using TokenPair = std::pair<TokenId, TokenId>;

struct TrainingWord {
  std::vector<TokenId> tokens;
  std::int64_t count = 0;
};

// A pair became more or less frequent in a word.
struct PairChange {
  TokenPair pair;
  std::int64_t count;
  std::uint32_t word;
};

struct Joining {
  std::uint32_t word;  // its number
  TokenPair pair;
  TokenId token;
};

// Puts the token in the place of the pair, from left to right, and notes what became of its neighbours.
void join(TrainingWord& word, const Joining& joining, std::vector<PairChange>& changes);

}  // namespace sluice
