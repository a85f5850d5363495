#include "sluice/serve/token_chances.h"

#include <algorithm>
#include <cmath>

namespace sluice::serve {

void TokenChances::next(std::span<const float> logits) {
  ++index;
  const double largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  const double log_sum = largest + std::log(sum);
  log_probabilities.clear();
  for (const float logit : logits) log_probabilities.push_back(static_cast<float>(logit - log_sum));
  top = likeliest(log_probabilities, kept_);
}

double TokenChances::probability_of(TokenId id) const {
  return std::exp(static_cast<double>(log_probabilities[static_cast<size_t>(id)]));
}

}  // namespace sluice::serve
