#include "sluice/dist/value_exchange.h"

#include <algorithm>
#include <memory>
#include <span>

namespace sluice {
namespace {

// A bucket under way. A part that is one piece is sent from where it is and arrives where it belongs;
// others are packed.
struct Parcel {
  const ShardLayout::Bucket* bucket = nullptr;
  std::vector<Tensor> packed;  // by rank
  std::unique_ptr<Ranks::Transfer> transfer;
};

std::span<float> values_of(const std::vector<NamedParameter>& parameters, const ParameterPiece& piece) {
  return parameters[piece.parameter].parameter->value.values<float>().subspan(
      static_cast<size_t>(piece.begin), static_cast<size_t>(piece.count()));
}

void drop_packed(const std::vector<NamedParameter>& parameters) {
  for (const NamedParameter& named : parameters) named.parameter->drop_packed();
}

Parcel begin_bucket(const Context& context, Ranks& ranks, const std::vector<NamedParameter>& parameters,
                    const ShardLayout::Bucket& bucket) {
  const auto self = static_cast<size_t>(ranks.rank());
  Parcel parcel{.bucket = &bucket, .packed = std::vector<Tensor>(bucket.parts.size()), .transfer = {}};
  Ranks::Incoming in;
  for (size_t rank = 0; rank < bucket.parts.size(); ++rank) {
    const std::vector<ParameterPiece>& part = bucket.parts[rank];
    if (part.size() != 1) parcel.packed[rank] = context.empty({count_of(part)}, DType::F32);
    in.push_back(std::as_writable_bytes(part.size() == 1 ? values_of(parameters, part.front())
                                                         : parcel.packed[rank].values<float>()));
  }
  if (parcel.packed[self].defined()) {
    float* packed = parcel.packed[self].data<float>();
    for (const ParameterPiece& piece : bucket.parts[self])
      packed = std::ranges::copy(values_of(parameters, piece), packed).out;
  }
  Ranks::Outgoing out(in.size(), in[self]);
  out[self] = {};
  in[self] = {};
  parcel.transfer = ranks.begin(out, in);
  return parcel;
}

void finish_bucket(Ranks& ranks, const std::vector<NamedParameter>& parameters, Parcel& parcel) {
  ranks.wait(*parcel.transfer);
  const auto self = static_cast<size_t>(ranks.rank());
  for (size_t rank = 0; rank < parcel.packed.size(); ++rank) {
    if (rank == self || !parcel.packed[rank].defined()) continue;
    const float* received = parcel.packed[rank].data<float>();
    for (const ParameterPiece& piece : parcel.bucket->parts[rank]) {
      std::copy_n(received, piece.count(), values_of(parameters, piece).begin());
      received += piece.count();
    }
  }
}

}  // namespace

void spread_values(const Context& context, Ranks& ranks, const std::vector<NamedParameter>& parameters,
                   const ShardLayout& layout) {
  if (ranks.size() == 1) return;
  // While one bucket is unpacked, the next is on its way.
  Parcel before;
  for (const ShardLayout::Bucket& bucket : layout.buckets()) {
    Parcel next = begin_bucket(context, ranks, parameters, bucket);
    if (before.transfer) finish_bucket(ranks, parameters, before);
    before = std::move(next);
  }
  if (before.transfer) finish_bucket(ranks, parameters, before);
  drop_packed(parameters);
}

void spread_owned_values(Ranks& ranks, const std::vector<NamedParameter>& parameters,
                         const ShardLayout& layout) {
  const auto count = static_cast<size_t>(ranks.size());
  const auto self = static_cast<size_t>(ranks.rank());
  size_t most = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) most = std::max(most, layout.owned_by(rank).size());
  // One of each rank's at a time.
  for (size_t i = 0; i < most; ++i) {
    Ranks::Outgoing out(count);
    Ranks::Incoming in(count);
    for (size_t rank = 0; rank < count; ++rank) {
      const std::vector<ParameterPiece>& owned = layout.owned_by(static_cast<int>(rank));
      if (i >= owned.size()) continue;
      const std::span<std::byte> bytes = std::as_writable_bytes(values_of(parameters, owned[i]));
      if (rank == self) {
        out.assign(count, bytes);
      } else {
        in[rank] = bytes;
      }
    }
    out[self] = {};
    ranks.exchange(out, in);
  }
  drop_packed(parameters);
}

}  // namespace sluice
