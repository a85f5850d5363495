#include "sluice/data/random_batch.h"

#include "sluice/base/random.h"

namespace sluice {
namespace {

std::vector<TokenId> random_tokens(const Random& random, int64_t count, int64_t vocabulary) {
  std::vector<TokenId> tokens;
  for (int64_t i = 0; i < count; ++i) {
    tokens.push_back(
        static_cast<TokenId>(random.below(static_cast<uint64_t>(i), static_cast<uint64_t>(vocabulary))));
  }
  return tokens;
}

}  // namespace

Batch random_batch(const RandomBatch& options) {
  const Random random(options.seed);
  const int64_t count = options.sequences * options.length;
  return {.sequences = options.sequences,
          .length = options.length,
          .inputs = random_tokens(random.child(0), count, options.vocabulary),
          .targets = random_tokens(random.child(1), count, options.vocabulary)};
}

}  // namespace sluice
