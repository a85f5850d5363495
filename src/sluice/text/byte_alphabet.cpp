#include "sluice/text/byte_alphabet.h"

#include <array>

#include "sluice/text/utf8.h"

namespace sluice {
namespace {

constexpr int kBytes = 256;
constexpr char32_t kEnd = 0x144;  // behind the last character of the alphabet

// Bytes that Latin-1 prints as a visible character stand for themselves.
constexpr bool is_visible(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

struct Alphabet {
  std::array<char32_t, kBytes> character{};
  std::array<int, kEnd> byte{};  // -1: none

  // The others follow in order from U+0100.
  constexpr Alphabet() {
    for (int& each : byte) each = -1;
    char32_t next = 0x100;
    for (int b = 0; b < kBytes; ++b) {
      character[static_cast<std::size_t>(b)] = is_visible(b) ? static_cast<char32_t>(b) : next++;
      byte[character[static_cast<std::size_t>(b)]] = b;
    }
  }
};

constexpr Alphabet kAlphabet;

}  // namespace

std::string spelled(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) append_utf8(kAlphabet.character[static_cast<unsigned char>(byte)], out);
  return out;
}

std::optional<std::string> bytes_of_spelling(std::string_view spelling) {
  std::string bytes;
  while (!spelling.empty()) {
    const Utf8Character c = first_character(spelling);
    if (c.value >= kEnd || kAlphabet.byte[c.value] < 0) return std::nullopt;
    bytes += static_cast<char>(kAlphabet.byte[c.value]);
    spelling.remove_prefix(c.length);
  }
  return bytes;
}

}  // namespace sluice
