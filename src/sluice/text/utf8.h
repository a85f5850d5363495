// UTF-8: characters, ill-formed bytes, and the two character classes that added tokens ask about.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

enum class Utf8Form {
  Complete,
  CutOff,     // the text ends inside a character that is well-formed so far
  IllFormed,  // no continuation could make it a character
};

// What stands at the front of a text. If it is no character, the length is that of the maximal subpart that
// Unicode (chapter 3.9) replaces by one U+FFFD, at least 1.
struct Utf8Front {
  Utf8Form form;
  std::size_t length;
};

Utf8Front utf8_front(std::string_view text);  // not empty

// Bytes up to the first that belongs to no character.
std::size_t well_formed_length(std::string_view text);

struct Utf8Character {
  char32_t value;
  std::size_t length;
};

// Of well-formed text that is not empty.
Utf8Character first_character(std::string_view text);
Utf8Character last_character(std::string_view text);

void append_utf8(char32_t character, std::string& out);

// U+FFFD for each maximal subpart of an ill-formed sequence.
std::string with_ill_formed_replaced(std::string_view text);

bool is_white_space(char32_t character);  // Unicode's White_Space

// Letters, marks, decimal digits, connectors and joiners: \w of Unicode's Technical Standard 18.
bool is_word_character(char32_t character);

}  // namespace sluice
