#include "sluice/dist/shard_layout.h"

#include <algorithm>

#include "sluice/dist/pairwise_sum.h"

namespace sluice {
namespace {

// Blocks of the gradient's norm (kernels/elementwise.h) that a piece has. No piece ends inside one, so every
// rank's sums of squares are those that one rank would have.
int64_t blocks_of(const ParameterPiece& piece) {
  return (piece.count() + kSumBlock - 1) / kSumBlock;
}

// Of pieces that stand one after the other, blocks [range).
std::vector<ParameterPiece> cut(const std::vector<ParameterPiece>& pieces, Range range) {
  std::vector<ParameterPiece> part;
  int64_t first = 0;
  for (const ParameterPiece& piece : pieces) {
    const int64_t blocks = blocks_of(piece);
    const int64_t begin = std::clamp<int64_t>(range.begin - first, 0, blocks);
    const int64_t end = std::clamp<int64_t>(range.end - first, 0, blocks);
    if (begin < end) {
      part.push_back({.parameter = piece.parameter,
                      .begin = piece.begin + begin * kSumBlock,
                      .end = std::min(piece.begin + end * kSumBlock, piece.end)});
    }
    first += blocks;
  }
  return part;
}

}  // namespace

ShardLayout::ShardLayout(const std::vector<NamedParameter>& parameters, int ranks, int64_t bucket_elements,
                         const std::vector<int>& owners)
    : whole_(whole_pieces(parameters)), owned_(static_cast<size_t>(ranks)), ranks_(ranks) {
  const int64_t most = std::max<int64_t>(1, bucket_elements / kSumBlock) * kSumBlock;
  std::vector<ParameterPiece> pieces;
  const auto close = [&] {
    if (pieces.empty()) return;
    int64_t blocks = 0;
    for (const ParameterPiece& piece : pieces) blocks += blocks_of(piece);
    Bucket bucket{.pieces = pieces, .parts = {}};
    for (int rank = 0; rank < ranks; ++rank)
      bucket.parts.push_back(cut(pieces, share_of(blocks, rank, ranks)));
    buckets_.push_back(std::move(bucket));
    pieces.clear();
  };
  for (auto whole = whole_.rbegin(); whole != whole_.rend(); ++whole) {
    if (const int owner = owners.empty() ? -1 : owners[whole->parameter]; owner >= 0) {
      owned_[static_cast<size_t>(owner)].push_back(*whole);
      continue;
    }
    for (int64_t begin = 0; begin < whole->end; begin += most) {
      pieces.push_back(
          {.parameter = whole->parameter, .begin = begin, .end = std::min(begin + most, whole->end)});
      if (count_of(pieces) >= most) close();
    }
  }
  close();
}

std::vector<ParameterPiece> ShardLayout::pieces_of(int rank) const {
  if (ranks_ == 1) return whole_;
  std::vector<ParameterPiece> all;
  for (const Bucket& bucket : buckets_) {
    const std::vector<ParameterPiece>& part = bucket.parts[static_cast<size_t>(rank)];
    all.insert(all.end(), part.begin(), part.end());
  }
  all.insert(all.end(), owned_by(rank).begin(), owned_by(rank).end());
  return all;
}

int64_t count_of(const std::vector<ParameterPiece>& pieces) {
  int64_t count = 0;
  for (const ParameterPiece& piece : pieces) count += piece.count();
  return count;
}

}  // namespace sluice
