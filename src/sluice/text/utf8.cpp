#include "sluice/text/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace sluice {
namespace {

struct Lead {
  std::size_t length;       // of the character; 0: no character begins so
  unsigned char low, high;  // range of the second byte, which rules out overlong forms and surrogates
};

Lead lead_of(unsigned char byte) {
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

// Most text is mostly ASCII, which this passes eight bytes at a time.
std::size_t ascii_length(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

// Letters by their shape that have the category of symbols: Other_Alphabetic among So.
bool is_enclosed_letter(char32_t c) {
  return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
         (c >= 0x1F170 && c <= 0x1F189);
}

}  // namespace

Utf8Front utf8_front(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {Utf8Form::Complete, 1};
  Lead lead = lead_of(first);
  if (lead.length == 0) return {Utf8Form::IllFormed, 1};
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == text.size()) return {Utf8Form::CutOff, i};
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < lead.low || byte > lead.high) return {Utf8Form::IllFormed, i};
    lead.low = 0x80;
    lead.high = 0xBF;
  }
  return {Utf8Form::Complete, lead.length};
}

std::size_t well_formed_length(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    at += ascii_length(text.substr(at));
    if (at == text.size()) break;
    const Utf8Front front = utf8_front(text.substr(at));
    if (front.form != Utf8Form::Complete) break;
    at += front.length;
  }
  return at;
}

Utf8Character first_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {first, 1};
  const std::size_t length = lead_of(first).length;
  char32_t value = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) value = value << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return {value, length};
}

Utf8Character last_character(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while ((static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return first_character(text.substr(begin));
}

void append_utf8(char32_t character, std::string& out) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes);
  out.append(bytes, bytes + length);
}

std::string with_ill_formed_replaced(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t good = well_formed_length(text);
    out += text.substr(0, good);
    text.remove_prefix(good);
    if (text.empty()) break;
    out += "\uFFFD";
    text.remove_prefix(utf8_front(text).length);
  }
  return out;
}

bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_word_character(char32_t c) {
  constexpr char32_t kNonJoiner = 0x200C, kJoiner = 0x200D;
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  const bool letter_mark_or_digit = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL;
  return letter_mark_or_digit || category == UTF8PROC_CATEGORY_PC || c == kNonJoiner || c == kJoiner ||
         is_enclosed_letter(c);
}

}  // namespace sluice
