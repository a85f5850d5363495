// Perplexity over chunks of text, with an interval.
#pragma once

#include <span>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/eval/bootstrap.h"
#include "sluice/eval/chunked_text.h"
#include "sluice/model/decoder.h"
#include "sluice/text/vocabulary.h"

namespace sluice {

// Negative log-likelihood of one chunk: of the tokens that it predicts.
struct ChunkNll {
  double sum = 0;
  int64_t tokens = 0;
};

// Rows whose logits exist at once: 64 × 152,064 in f32 are 37 MiB.
inline constexpr int64_t kLogitRows = 64;

ChunkNll chunk_nll(const Context& context, const Decoder& decoder, const Chunk& chunk);

// The same token by token.
std::vector<float> predicted_losses(const Context& context, const Decoder& decoder, const Chunk& chunk);

// Of every token but the first, which nothing predicts.
ChunkNll chunk_nll(const Context& context, const Decoder& decoder, std::span<const TokenId> ids);

// Inputs and the token behind each, as data/packed_sequences.h hands them out; `sequences` cuts both.
struct PredictedTokens {
  std::span<const TokenId> inputs, targets;
  const Sequences& sequences;
};

// Of each sequence, all of them in one pass.
std::vector<ChunkNll> sequence_nlls(const Context& context, const Decoder& decoder,
                                    const PredictedTokens& tokens);

// Of a sequence's tokens but the first, from the output of the final norm for all of them, [N, D].
std::vector<float> next_token_losses(const Context& context, const Decoder& decoder, const Tensor& hidden,
                                     std::span<const TokenId> ids);

struct Perplexity {
  int64_t tokens = 0;  // predicted
  double nll = 0;      // mean per predicted token
  double ppl = 0;
  std::optional<Interval> ci95;  // of ppl, over chunks; none for one chunk
};

Perplexity perplexity(std::span<const ChunkNll> chunks);

// A model so bad on a text that its likelihood or its perplexity is beyond all numbers, as a broken one may
// be.
class InfinitePerplexity : public Error {
 public:
  explicit InfinitePerplexity(const Error& error) : Error(error) {}
};

// How much worse a model is than a base on the same chunks; below 0 it is better.
struct PerplexityDifference {
  double nll = 0;
  double ppl = 0;
  std::optional<Interval> ci95;  // of ppl: chunks are drawn in pairs, both results of each
};

PerplexityDifference perplexity_difference(std::span<const ChunkNll> chunks, std::span<const ChunkNll> base);

}  // namespace sluice
