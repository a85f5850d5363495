// Whether a file is text at all: what is none would be read as nonsense and nobody would notice.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

// Bad input, named `where`, with what it looks like. Text is UTF-8 for the most part, without NUL bytes; the
// first 64 KiB are looked at.
void refuse_binary(std::string_view content, const std::string& where);

}  // namespace sluice
