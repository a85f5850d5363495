// What the tokens of a growing text were chosen from.
#pragma once

#include <span>
#include <vector>

#include "sluice/analysis/view_predictions.h"

namespace sluice::serve {

struct TokenChances {
  explicit TokenChances(size_t kept) : kept_(kept) {}

  int64_t index = -1;                         // of the token that is chosen now
  std::vector<PredictedToken> top = {};       // the likeliest
  std::vector<float> log_probabilities = {};  // of all tokens

  // The logits of the next token.
  void next(std::span<const float> logits);

  double probability_of(TokenId id) const;

 private:
  size_t kept_;
};

}  // namespace sluice::serve
