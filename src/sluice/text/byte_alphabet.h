// The spelling of bytes in tokenizer files: each of the 256 bytes is one printable character, as GPT-2 chose
// them. A space is "Ġ", a line feed "Ċ".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

std::string spelled(std::string_view bytes);

// None if a character stands for no byte, as in tokens that are written as plain text.
std::optional<std::string> bytes_of_spelling(std::string_view spelling);

}  // namespace sluice
