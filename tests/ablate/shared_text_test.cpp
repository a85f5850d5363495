#include "sluice/ablate/shared_text.h"

#include <gtest/gtest.h>

#include "sluice/base/random.h"

namespace sluice {
namespace {

ChunkedText random_chunks(uint64_t seed, int64_t chunks) {
  std::vector<TokenId> tokens;
  for (uint64_t i = 0; i < static_cast<uint64_t>(64 * chunks); ++i)
    tokens.push_back(static_cast<TokenId>(Random(seed).below(i, 20)));
  return cut_into_chunks(std::move(tokens), {.length = 64}, {});
}

TEST(SharedText, is_found_wherever_it_stands) {
  const ChunkedText text = random_chunks(1, 5);
  const auto tokens = tokens_of_chunks(text, 5);
  EXPECT_EQ(std::ssize(tokens), 5 * 64);
  EXPECT_EQ(chunks_also_in(tokens, text, 5), 5);
  EXPECT_EQ(chunks_also_in(tokens.subspan(64), text, 5), 4);
  EXPECT_EQ(chunks_also_in(tokens.first(2 * 64 + 7), text, 5), 2) << "a part of a chunk is not one";
  std::vector<TokenId> moved = {1, 2, 3};
  moved.insert(moved.end(), tokens.begin(), tokens.end());
  EXPECT_EQ(chunks_also_in(moved, text, 5), 5) << "three tokens later";
}

TEST(SharedText, is_not_found_in_another) {
  EXPECT_EQ(chunks_also_in(tokens_of_chunks(random_chunks(2, 5), 5), random_chunks(1, 5), 5), 0);
  EXPECT_EQ(chunks_also_in({}, random_chunks(1, 5), 5), 0);
  EXPECT_TRUE(tokens_of_chunks(random_chunks(1, 5), 0).empty());
}

}  // namespace
}  // namespace sluice
