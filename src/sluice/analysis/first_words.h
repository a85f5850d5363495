// Short sequences of a text that each begin with another token. A text cut into long chunks begins with few
// different ones, so what is said of the first token might be true of these alone.
#pragma once

#include "sluice/eval/chunked_text.h"

namespace sluice {

inline constexpr int64_t kFirstWordTokens = 16;  // that the model sees of each

// At most so many, side by side in the text and never overlapping. Bad input if there are fewer than two, a
// usage error if the same token would be put before each.
ChunkedText first_words(const ChunkedText& text, int64_t at_most);

}  // namespace sluice
