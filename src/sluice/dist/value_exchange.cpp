#include "sluice/dist/value_exchange.h"

#include <algorithm>

namespace sluice {

void ValueExchange::spread() const {
  if (ranks_.size() == 1) return;
  for (const ShardLayout::Bucket& bucket : layout_.buckets()) spread_bucket(bucket);
  drop_packed();
}

void ValueExchange::spread_bucket(const ShardLayout::Bucket& bucket) const {
  const auto self = static_cast<size_t>(ranks_.rank());
  std::vector<std::vector<float>> parts;
  for (const auto& part : bucket.parts) parts.emplace_back(static_cast<size_t>(count_of(part)));
  auto packed = parts[self].begin();
  for (const ParameterPiece& piece : bucket.parts[self])
    packed = std::ranges::copy(values_of(piece), packed).out;

  Ranks::Outgoing out(parts.size(), std::as_bytes(std::span(parts[self])));
  Ranks::Incoming in;
  for (std::vector<float>& part : parts) in.push_back(std::as_writable_bytes(std::span(part)));
  out[self] = {};
  in[self] = {};
  ranks_.exchange(out, in);

  for (size_t rank = 0; rank < parts.size(); ++rank) {
    if (rank == self) continue;
    auto received = parts[rank].cbegin();
    for (const ParameterPiece& piece : bucket.parts[rank]) {
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
