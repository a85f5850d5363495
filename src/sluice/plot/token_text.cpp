#include "sluice/plot/token_text.h"

#include "sluice/text/utf8.h"

namespace sluice {
namespace {

constexpr char32_t kMiddleDot = 0xb7, kReturnSign = 0x23ce, kTabArrow = 0x2192, kEmptySet = 0x2205,
                   kReplacement = 0xfffd;

// Those of ASCII and Latin-1, and the ones that turn text around or have no width.
bool is_control(char32_t character) {
  return character < ' ' || (character >= 0x7f && character < 0xa0) || character == 0xad ||
         (character >= 0x200b && character <= 0x200f) || (character >= 0x2028 && character <= 0x202e) ||
         (character >= 0x2060 && character <= 0x206f) || character == 0xfeff;
}

char32_t visible(char32_t character) {
  if (character == ' ') return kMiddleDot;
  if (character == '\n') return kReturnSign;
  if (character == '\t') return kTabArrow;
  return is_control(character) ? kReplacement : character;
}

}  // namespace

std::string token_text(std::string_view bytes) {
  std::string shown;
  if (bytes.empty()) append_utf8(kEmptySet, shown);
  const std::string text = with_ill_formed_replaced(bytes);
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Character character = first_character(rest);
    append_utf8(visible(character.value), shown);
    rest.remove_prefix(character.length);
  }
  return shown;
}

}  // namespace sluice
