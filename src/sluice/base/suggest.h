// The nearest valid word to a mistyped one, for error hints.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sluice {

// The candidate with the fewest edits (insert, delete, replace, swap neighbours); the first one of equals.
// Empty if none is within max(2, a third of the word's length) edits.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// `did you mean "x"?` with the candidates that begin with the word, up to four, or else the nearest; or
// empty.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

// Whether a word is most likely a mistyped other one: at most two edits away, and no more than a third of it.
bool is_misspelt(std::string_view word, std::string_view other);

}  // namespace sluice
