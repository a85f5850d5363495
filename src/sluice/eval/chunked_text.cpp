#include "sluice/eval/chunked_text.h"

#include <algorithm>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

int64_t covered_tokens(const ChunkedText& text, const ChunkOptions& options) {
  const int64_t room = text.room();
  const int64_t covered = std::min(std::ssize(text.tokens), room + (options.at_most - 1) * text.stride);
  if (!options.stride) return covered / room * room;
  // A last chunk of one token that nothing precedes would predict nothing.
  const bool lone = text.stride == room && !text.begin_of_chunk && covered > room && covered % room == 1;
  return lone ? covered - 1 : covered;
}

}  // namespace

std::string_view name_of(BeginOfText begin) {
  return begin == BeginOfText::None ? "none" : begin == BeginOfText::Text ? "text" : "chunk";
}

int64_t ChunkedText::chunks() const {
  const int64_t behind_first = std::max<int64_t>(std::ssize(tokens) - room(), 0);
  return 1 + (behind_first + stride - 1) / stride;
}

Chunk ChunkedText::chunk(int64_t index) const {
  const auto end_of = [&](int64_t i) { return std::min(i * stride + room(), std::ssize(tokens)); };
  const int64_t seen = index == 0 ? 0 : end_of(index - 1);
  Chunk chunk{.ids = {tokens.begin() + index * stride, tokens.begin() + end_of(index)}};
  if (begin_of_chunk) chunk.ids.insert(chunk.ids.begin(), *begin_of_chunk);
  chunk.predicted = std::min(end_of(index) - seen, std::ssize(chunk.ids) - 1);
  return chunk;
}

ChunkedText cut_into_chunks(std::vector<TokenId> tokens, const ChunkOptions& options,
                            std::optional<TokenId> begin_of_text) {
  SLUICE_ASSERT(options.length >= 2 && options.at_most >= 1, "chunks: {} of {} tokens", options.at_most,
                options.length);
  SLUICE_ASSERT(!options.stride || (1 <= *options.stride && *options.stride <= options.room()),
                "chunks: a stride of {} in chunks of {}", *options.stride, options.room());
  SLUICE_ASSERT(begin_of_text || options.begin_of_text == BeginOfText::None,
                "chunks: no token to begin with");
  ChunkedText text{.tokens = std::move(tokens), .begin_of_text = options.begin_of_text};
  if (options.begin_of_text == BeginOfText::Text) text.tokens.insert(text.tokens.begin(), *begin_of_text);
  if (options.begin_of_text == BeginOfText::Chunk) text.begin_of_chunk = begin_of_text;
  const int64_t room = std::min(options.room(), std::ssize(text.tokens));
  text.chunk_length = room + (text.begin_of_chunk ? 1 : 0);
  text.stride = std::min(options.stride.value_or(room), room);
  if (room > 0) text.tokens.resize(static_cast<size_t>(covered_tokens(text, options)));
  return text;
}

}  // namespace sluice
