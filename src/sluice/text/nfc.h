// Unicode's normalisation form C, which Qwen's tokenizers ask for.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

// True means that the text is in form C; false that it has to be looked at more closely.
bool is_surely_nfc(std::string_view text);

// Of well-formed UTF-8.
std::string to_nfc(std::string_view text);

}  // namespace sluice
