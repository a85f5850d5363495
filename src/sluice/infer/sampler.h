// Choosing the next token from its logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sluice/base/random.h"

namespace sluice {

struct SamplerOptions {
  double temperature = 0.0;  // 0: greedy
  int64_t top_k = 0;         // 0: off
  double top_p = 1.0;        // 1: off
  double min_p = 0.0;        // 0: off
  uint64_t seed = 0;
};

// The filters apply in the order top-k, top-p, min-p to the probabilities at the given temperature. Equal
// logits go to the smaller id first. The n-th draw depends on seed and n alone.
class Sampler {
 public:
  explicit Sampler(const SamplerOptions& options) : options_(options), random_(options.seed) {}

  int32_t next(std::span<const float> logits);

  // What a draw is made from, likeliest first: the tokens that the filters leave, with their probabilities.
  // At temperature 0 the likeliest alone.
  struct Candidate {
    int32_t id = 0;
    double weight = 0;
  };
  static std::vector<Candidate> candidates(std::span<const float> logits, const SamplerOptions& options);

 private:
  SamplerOptions options_;
  Random random_;
  uint64_t draws_ = 0;
};

}  // namespace sluice
