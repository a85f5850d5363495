#include "sluice/dist/value_exchange.h"

#include <algorithm>

namespace sluice {

void ValueExchange::spread(const Context& context) const {
  if (ranks_.size() == 1) return;
  // While one bucket is unpacked, the next is on its way.
  Parcel before;
  for (const ShardLayout::Bucket& bucket : layout_.buckets()) {
    Parcel next = begin_bucket(context, bucket);
    if (before.transfer) finish_bucket(before);
    before = std::move(next);
  }
  if (before.transfer) finish_bucket(before);
  drop_packed();
}

ValueExchange::Parcel ValueExchange::begin_bucket(const Context& context,
                                                  const ShardLayout::Bucket& bucket) const {
  const auto self = static_cast<size_t>(ranks_.rank());
  Parcel parcel{.bucket = &bucket, .packed = std::vector<Tensor>(bucket.parts.size()), .transfer = {}};
  Ranks::Incoming in;
  for (size_t rank = 0; rank < bucket.parts.size(); ++rank) {
    const std::vector<ParameterPiece>& part = bucket.parts[rank];
    if (part.size() != 1) parcel.packed[rank] = context.empty({count_of(part)}, DType::F32);
    in.push_back(std::as_writable_bytes(part.size() == 1 ? values_of(part.front())
                                                         : parcel.packed[rank].values<float>()));
  }
  if (parcel.packed[self].defined()) {
    float* packed = parcel.packed[self].data<float>();
    for (const ParameterPiece& piece : bucket.parts[self])
      packed = std::ranges::copy(values_of(piece), packed).out;
  }
  Ranks::Outgoing out(in.size(), in[self]);
  out[self] = {};
  in[self] = {};
  parcel.transfer = ranks_.begin(out, in);
  return parcel;
}

void ValueExchange::finish_bucket(Parcel& parcel) const {
  ranks_.wait(*parcel.transfer);
  const auto self = static_cast<size_t>(ranks_.rank());
  for (size_t rank = 0; rank < parcel.packed.size(); ++rank) {
    if (rank == self || !parcel.packed[rank].defined()) continue;
    const float* received = parcel.packed[rank].data<float>();
    for (const ParameterPiece& piece : parcel.bucket->parts[rank]) {
      std::copy_n(received, piece.count(), values_of(piece).begin());
      received += piece.count();
    }
  }
}

void ValueExchange::spread_owned() const {
  const auto count = static_cast<size_t>(ranks_.size());
  const auto self = static_cast<size_t>(ranks_.rank());
  size_t most = 0;
  for (int rank = 0; rank < ranks_.size(); ++rank) most = std::max(most, layout_.owned_by(rank).size());
  // One of each rank's at a time.
  for (size_t i = 0; i < most; ++i) {
    Ranks::Outgoing out(count);
    Ranks::Incoming in(count);
    for (size_t rank = 0; rank < count; ++rank) {
      const std::vector<ParameterPiece>& owned = layout_.owned_by(static_cast<int>(rank));
      if (i >= owned.size()) continue;
      const std::span<std::byte> bytes = std::as_writable_bytes(values_of(owned[i]));
      if (rank == self) {
        out.assign(count, bytes);
      } else {
        in[rank] = bytes;
      }
    }
    out[self] = {};
    ranks_.exchange(out, in);
  }
  drop_packed();
}

std::span<float> ValueExchange::values_of(const ParameterPiece& piece) const {
  return parameters_[piece.parameter].parameter->value.values<float>().subspan(
      static_cast<size_t>(piece.begin), static_cast<size_t>(piece.count()));
}

void ValueExchange::drop_packed() const {
  for (const NamedParameter& named : parameters_) named.parameter->drop_packed();
}

}  // namespace sluice
