// Whether texts that have to be separate are.
#pragma once

#include <cstdint>
#include <span>

#include "sluice/eval/chunked_text.h"

namespace sluice {

// The tokens of the first chunks of a text.
std::span<const TokenId> tokens_of_chunks(const ChunkedText& text, int64_t chunks);

// How many of the first chunks of a text are also found, at least half of each, among these tokens, wherever
// they stand there. Words and phrases that all texts have do not count: a piece is 64 tokens long, or a chunk
// if that is shorter.
int64_t chunks_also_in(std::span<const TokenId> tokens, const ChunkedText& text, int64_t chunks);

}  // namespace sluice
