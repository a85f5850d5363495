#include "sluice/ablate/shared_text.h"

#include <algorithm>
#include <unordered_set>

#include "sluice/base/crc32c.h"

namespace sluice {
namespace {

constexpr size_t kPiece = 64;  // tokens

// A checksum of each half: 32 bits alone meet by chance in a text of some ten thousand pieces.
uint64_t mark_of(std::span<const TokenId> piece) {
  const auto checksum = [](std::span<const TokenId> tokens) {
    return crc32c({reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes()});
  };
  const size_t middle = piece.size() / 2;
  return uint64_t{checksum(piece.first(middle))} << 32 | checksum(piece.subspan(middle));
}

}  // namespace

std::span<const TokenId> tokens_of_chunks(const ChunkedText& text, int64_t chunks) {
  if (chunks == 0) return {};
  const auto end = static_cast<size_t>((chunks - 1) * text.stride + text.room());
  return std::span(text.tokens).first(std::min(end, text.tokens.size()));
}

int64_t chunks_also_in(std::span<const TokenId> tokens, const ChunkedText& text, int64_t chunks) {
  const size_t length = std::min(kPiece, static_cast<size_t>(text.room()));
  std::unordered_set<uint64_t> marks;
  for (size_t at = 0; at + length <= tokens.size(); ++at) marks.insert(mark_of(tokens.subspan(at, length)));
  int64_t shared = 0;
  for (int64_t i = 0; i < chunks; ++i) {
    const auto begin = static_cast<size_t>(i * text.stride);
    const auto size = std::min(static_cast<size_t>(text.room()), text.tokens.size() - begin);
    const std::span<const TokenId> chunk = std::span(text.tokens).subspan(begin, size);
    size_t pieces = 0, found = 0;
    for (size_t at = 0; at + length <= chunk.size(); at += length, ++pieces)
      found += marks.count(mark_of(chunk.subspan(at, length)));
    shared += pieces > 0 && 2 * found >= pieces ? 1 : 0;
  }
  return shared;
}

}  // namespace sluice
