// Perplexity over chunks of text, with an interval.
#pragma once

#include <span>
#include <vector>

#include "sluice/model/decoder.h"

namespace sluice {

// Negative log-likelihood of one chunk: of every token but its first, which nothing predicts.
struct ChunkNll {
  double sum = 0;
  int64_t tokens = 0;
};

ChunkNll chunk_nll(const Context& context, const Decoder& decoder, std::span<const int32_t> ids);

struct Interval {
  double low = 0, high = 0;
};

struct Perplexity {
  int64_t tokens = 0;  // predicted
  double nll = 0;      // mean per predicted token
  double ppl = 0;
  Interval ci95;  // of ppl: percentile bootstrap over chunks
};

Perplexity perplexity(std::span<const ChunkNll> chunks);

// How much worse a model is than a base on the same chunks; below 0 it is better.
struct PerplexityDifference {
  double nll = 0;
  double ppl = 0;
  Interval ci95;  // of ppl: the bootstrap draws chunks, and both results of each
};

PerplexityDifference perplexity_difference(std::span<const ChunkNll> chunks, std::span<const ChunkNll> base);

}  // namespace sluice
