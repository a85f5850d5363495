#include "sluice/plot/text_width.h"

#include "sluice/text/markup.h"
#include "sluice/text/utf8.h"

namespace sluice {
namespace {

// Advances of the characters from space to tilde, in thousandths of the font size, as Cairo measured them.
constexpr int kAdvances[] = {318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
                             636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
                             1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
                             603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
                             500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
                             635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838};
constexpr int kWide = 1000;  // Chinese and the like
constexpr int kOther = 700;  // letters of other scripts
constexpr char32_t kFirstWide = 0x1100;
constexpr double kBold = 1.12;  // of the normal advance; digits and lower case letters

int advance(char32_t character) {
  if (character >= ' ' && character <= '~') return kAdvances[character - ' '];
  return character >= kFirstWide ? kWide : kOther;
}

}  // namespace

double text_width(std::string_view text, const TextStyle& style) {
  const std::string shown = printable(text);
  int64_t thousandths = 0;
  for (std::string_view rest = shown; !rest.empty();) {
    const Utf8Character character = first_character(rest);
    thousandths += advance(character.value);
    rest.remove_prefix(character.length);
  }
  return static_cast<double>(thousandths) / 1000 * style.size *
         (style.weight == FontWeight::Bold ? kBold : 1);
}

std::string fitted(const std::string& text, const TextStyle& style, double width) {
  std::string kept = printable(text);
  if (text_width(kept, style) <= width) return kept;
  while (!kept.empty() && text_width(kept + "...", style) > width)
    kept.resize(kept.size() - last_character(kept).length);
  return kept + "...";
}

}  // namespace sluice
