// Which rank owns which part of a model: it adds up those gradients, keeps those moments and updates those
// weights. Parameters are cut into buckets, the last ones first, since their gradients are ready first; each
// bucket is shared out over all ranks, so that all work on it at the same time. What belongs to one rank
// alone, as its experts do, is in no bucket.
#pragma once

#include "sluice/optim/adamw.h"

namespace sluice {

class ShardLayout {
 public:
  // Large enough that the time of a message is that of its bytes, small enough that the first ones are under
  // way while most of the backward pass is still to come; 8 MB of f32.
  static constexpr int64_t kBucketElements = int64_t{1} << 21;

  struct Bucket {
    std::vector<ParameterPiece> pieces;              // of all ranks
    std::vector<std::vector<ParameterPiece>> parts;  // by rank
  };

  // `owners` has the rank of a parameter that is one rank's alone, and -1 for others; none: all are others.
  ShardLayout(const std::vector<NamedParameter>& parameters, int ranks,
              int64_t bucket_elements = kBucketElements, const std::vector<int>& owners = {});

  const std::vector<Bucket>& buckets() const { return buckets_; }

  // Of all buckets, in their order, then what is the rank's alone; whole parameters, in theirs, if there is
  // one rank.
  std::vector<ParameterPiece> pieces_of(int rank) const;

  // What is a rank's alone.
  const std::vector<ParameterPiece>& owned_by(int rank) const { return owned_[static_cast<size_t>(rank)]; }

 private:
  std::vector<ParameterPiece> whole_;
  std::vector<Bucket> buckets_;
  std::vector<std::vector<ParameterPiece>> owned_;  // by rank
  int ranks_;
};

// All elements of some pieces together.
int64_t count_of(const std::vector<ParameterPiece>& pieces);

}  // namespace sluice
