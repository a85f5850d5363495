// Weights, from the ranks that have updated them to all others.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "sluice/dist/ranks.h"
#include "sluice/dist/shard_layout.h"

namespace sluice {

class ValueExchange {
 public:
  // The layout is kept by reference.
  ValueExchange(Ranks& ranks, std::vector<NamedParameter> parameters, const ShardLayout& layout)
      : ranks_(ranks), parameters_(std::move(parameters)), layout_(layout) {}

  // Own pieces to the others, and theirs from them; but not what is one rank's alone.
  void spread(const Context& context) const;

  // What is one rank's alone, to all others.
  void spread_owned() const;

 private:
  // A bucket under way. A part that is one piece is sent from where it is and arrives where it belongs;
  // others are packed.
  struct Parcel {
    const ShardLayout::Bucket* bucket = nullptr;
    std::vector<Tensor> packed;  // by rank
    std::unique_ptr<Ranks::Transfer> transfer;
  };

  Parcel begin_bucket(const Context& context, const ShardLayout::Bucket& bucket) const;
  void finish_bucket(Parcel& parcel) const;
  std::span<float> values_of(const ParameterPiece& piece) const;
  void drop_packed() const;

  Ranks& ranks_;
  std::vector<NamedParameter> parameters_;
  const ShardLayout& layout_;
};

}  // namespace sluice
