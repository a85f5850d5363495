#include "sluice/plot/text_width.h"

#include <algorithm>
#include <sstream>

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

double width_of(char32_t character, const TextStyle& style) {
  return advance(character) / 1000.0 * style.size * (style.weight == FontWeight::Bold ? kBold : 1);
}

// Bytes of the longest beginning that fits. One pass: tokens and names may be very long.
size_t fitting_length(std::string_view text, const TextStyle& style, double width) {
  size_t length = 0;
  for (double used = 0; length < text.size();) {
    const Utf8Character character = first_character(text.substr(length));
    used += width_of(character.value, style);
    if (used > width) break;
    length += character.length;
  }
  return length;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
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
  const std::string shown = printable(text);
  if (fitting_length(shown, style, width) == shown.size()) return shown;
  return shown.substr(0, fitting_length(shown, style, width - text_width("...", style))) + "...";
}

std::vector<std::string> wrapped(const std::string& text, const TextStyle& style, double width) {
  std::vector<std::string> lines;
  std::string line;
  for (const std::string& word : words_of(printable(text))) {
    const std::string longer = line.empty() ? word : line + ' ' + word;
    if (text_width(longer, style) <= width) {
      line = longer;
      continue;
    }
    if (!line.empty()) lines.push_back(line);
    std::string_view rest = word;
    for (size_t length = 0; (length = fitting_length(rest, style, width)) < rest.size();) {
      length = std::max(length, first_character(rest).length);  // however narrow
      lines.emplace_back(rest.substr(0, length));
      rest.remove_prefix(length);
    }
    line = rest;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::vector<std::string> first_lines(std::vector<std::string> lines, size_t most, const TextStyle& style,
                                     double width) {
  if (lines.size() <= most) return lines;
  for (size_t i = most; i < lines.size(); ++i) lines[most - 1] += ' ' + lines[i];
  lines.resize(most);
  lines.back() = fitted(lines.back(), style, width);
  return lines;
}

}  // namespace sluice
