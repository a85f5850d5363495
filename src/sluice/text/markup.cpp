#include "sluice/text/markup.h"

#include "sluice/text/utf8.h"

namespace sluice {
namespace {

bool is_control(char32_t character) {
  // U+FFFE and U+FFFF are characters of Unicode but not of XML.
  return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0xfffe ||
         character == 0xffff;
}

template <typename Keep>
std::string without_controls(std::string_view text, const Keep& keep) {
  const std::string whole = with_ill_formed_replaced(text);
  std::string result;
  for (std::string_view rest = whole; !rest.empty();) {
    const Utf8Character character = first_character(rest);
    if (is_control(character.value) && !keep(character.value)) {
      result += ' ';
    } else {
      result.append(rest.substr(0, character.length));
    }
    rest.remove_prefix(character.length);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) {
  return without_controls(text, [](char32_t) { return false; });
}

std::string escaped_markup(std::string_view text) {
  std::string result;
  for (const char each :
       without_controls(text, [](char32_t character) { return character == '\n' || character == '\t'; })) {
    switch (each) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += each;
    }
  }
  return result;
}

}  // namespace sluice
