#include "sluice/dist/shard_layout.h"

#include <gtest/gtest.h>

#include "tests/model/small_model.h"

namespace sluice {
namespace {

// How often every element of every parameter is in the pieces.
std::vector<std::vector<int>> covered(const Decoder& decoder, const std::vector<ParameterPiece>& pieces) {
  std::vector<std::vector<int>> times;
  for (const NamedParameter& named : decoder.parameters())
    times.emplace_back(static_cast<size_t>(named.shape.count()));
  for (const ParameterPiece& piece : pieces) {
    EXPECT_EQ(piece.begin % kSumBlock, 0) << "or its sums of squares would be others";
    EXPECT_LT(piece.begin, piece.end);
    for (int64_t i = piece.begin; i < piece.end; ++i) ++times[piece.parameter][static_cast<size_t>(i)];
  }
  return times;
}

Decoder wide_decoder() {
  ModelConfig config = small_model();
  config.vocabulary = 700;  // embeddings of several blocks
  return Decoder(config);
}

TEST(ShardLayout, gives_every_element_to_one_rank) {
  const Decoder decoder = wide_decoder();
  for (const int ranks : {1, 2, 3, 7}) {
    for (const int64_t bucket : {int64_t{1}, kSumBlock, 3 * kSumBlock, ShardLayout::kBucketElements}) {
      const ShardLayout layout(decoder.parameters(), ranks, bucket);
      std::vector<ParameterPiece> all;
      for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<ParameterPiece> pieces = layout.pieces_of(rank);
        all.insert(all.end(), pieces.begin(), pieces.end());
      }
      for (const std::vector<int>& parameter : covered(decoder, all))
        for (const int times : parameter) ASSERT_EQ(times, 1) << ranks << " ranks, buckets of " << bucket;
    }
  }
}

TEST(ShardLayout, has_buckets_of_bounded_size_from_the_last_parameter_to_the_first) {
  const Decoder decoder = wide_decoder();
  const ShardLayout layout(decoder.parameters(), 2, 2 * kSumBlock);
  EXPECT_GT(layout.buckets().size(), 2U);
  std::vector<size_t> order;
  for (const ShardLayout::Bucket& bucket : layout.buckets()) {
    EXPECT_LT(count_of(bucket.pieces), 4 * kSumBlock) << "less than a parameter's part beyond the limit";
    for (const ParameterPiece& piece : bucket.pieces) order.push_back(piece.parameter);
  }
  EXPECT_TRUE(std::ranges::is_sorted(order, std::greater()));
}

TEST(ShardLayout, of_one_rank_is_every_parameter_whole) {
  const Decoder decoder = wide_decoder();
  EXPECT_EQ(ShardLayout(decoder.parameters(), 1).pieces_of(0), whole_pieces(decoder.parameters()));
}

}  // namespace
}  // namespace sluice
