// What AdamW remembers, from the ranks that own it to the first, which saves it, and back. A parameter at a
// time: no rank but the first needs room for more than its own.
#pragma once

#include "sluice/dist/ranks.h"
#include "sluice/dist/shard_layout.h"

namespace sluice {

enum class Moment { First, Second };

class MomentExchange {
 public:
  MomentExchange(Context context, Ranks& ranks, const ShardLayout& layout)
      : context_(context), ranks_(ranks), layout_(layout) {}

  // A parameter's own, whole, on the first rank; undefined on others.
  Tensor gather(const AdamW& optimizer, const NamedParameter& named, size_t parameter, Moment which) const;

  // The parts that this rank owns, in the order of its pieces, of what the first rank has; the others give an
  // undefined tensor.
  std::vector<Tensor> scatter(const Tensor& whole, const NamedParameter& named, size_t parameter) const;

 private:
  // Of one parameter, by rank.
  std::vector<std::vector<ParameterPiece>> pieces_of(size_t parameter) const;

  Context context_;
  Ranks& ranks_;
  const ShardLayout& layout_;
};

}  // namespace sluice
