#include "sluice/dist/moment_exchange.h"

#include <algorithm>

namespace sluice {

std::vector<std::vector<ParameterPiece>> MomentExchange::pieces_of(size_t parameter) const {
  std::vector<std::vector<ParameterPiece>> pieces;
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    pieces.push_back(layout_.pieces_of(rank));
    std::erase_if(pieces.back(), [&](const ParameterPiece& piece) { return piece.parameter != parameter; });
  }
  return pieces;
}

Tensor MomentExchange::gather(const AdamW& optimizer, const NamedParameter& named, size_t parameter,
                              Moment which) const {
  const auto member = which == Moment::First ? &AdamW::Moments::first : &AdamW::Moments::second;
  const auto self = static_cast<size_t>(ranks_.rank());
  const auto pieces = pieces_of(parameter);
  std::vector<std::vector<float>> parts(pieces.size());
  for (size_t i = 0; i < optimizer.pieces().size(); ++i) {
    if (optimizer.pieces()[i].parameter != parameter) continue;
    const Tensor& moment = optimizer.moments()[i].*member;
    if (ranks_.size() == 1) return moment;
    const std::span<float> values = moment.values<float>();
    parts[self].insert(parts[self].end(), values.begin(), values.end());
  }
  Ranks::Outgoing out(parts.size());
  Ranks::Incoming in(parts.size());
  if (!ranks_.is_first()) out.front() = std::as_bytes(std::span(parts[self]));
  for (size_t rank = 1; ranks_.is_first() && rank < parts.size(); ++rank) {
    parts[rank].resize(static_cast<size_t>(count_of(pieces[rank])));
    in[rank] = std::as_writable_bytes(std::span(parts[rank]));
  }
  ranks_.exchange(out, in);
  if (!ranks_.is_first()) return {};
  Tensor whole = context_.empty(named.shape, DType::F32);
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    auto next = parts[rank].begin();
    for (const ParameterPiece& piece : pieces[rank]) {
      std::copy_n(next, piece.count(), whole.data<float>() + piece.begin);
      next += piece.count();
    }
  }
  return whole;
}

std::vector<Tensor> MomentExchange::scatter(const Tensor& whole, const NamedParameter& named,
                                            size_t parameter) const {
  if (ranks_.size() == 1) return {whole};
  const auto self = static_cast<size_t>(ranks_.rank());
  const auto pieces = pieces_of(parameter);
  std::vector<std::vector<float>> parts(pieces.size());
  Ranks::Outgoing out(parts.size());
  Ranks::Incoming in(parts.size());
  for (size_t rank = 0; ranks_.is_first() && rank < parts.size(); ++rank) {
    for (const ParameterPiece& piece : pieces[rank]) {
      const std::span<float> values =
          whole.values<float>().subspan(static_cast<size_t>(piece.begin), static_cast<size_t>(piece.count()));
      parts[rank].insert(parts[rank].end(), values.begin(), values.end());
    }
    if (rank != self) out[rank] = std::as_bytes(std::span(parts[rank]));
  }
  if (!ranks_.is_first()) {
    parts[self].resize(static_cast<size_t>(count_of(pieces[self])));
    in.front() = std::as_writable_bytes(std::span(parts[self]));
  }
  ranks_.exchange(out, in);
  std::vector<Tensor> own;
  auto next = parts[self].begin();
  for (const ParameterPiece& piece : pieces[self]) {
    const Shape shape = piece.count() == named.shape.count() ? named.shape : Shape{piece.count()};
    own.push_back(context_.empty(shape, DType::F32));
    std::copy_n(next, piece.count(), own.back().data<float>());
    next += piece.count();
  }
  return own;
}

}  // namespace sluice
