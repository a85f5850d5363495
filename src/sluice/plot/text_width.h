// How wide text is, without asking a font: layouts are the same on every machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/plot/canvas.h"

namespace sluice {

// In DejaVu Sans, which is wider than what stands in for it elsewhere.
double text_width(std::string_view text, const TextStyle& style);

// The text, or as much of it as fits the width with "..." after it.
std::string fitted(const std::string& text, const TextStyle& style, double width);

// The words in lines no wider than that. A word that is wider alone is broken; nothing is left out.
std::vector<std::string> wrapped(const std::string& text, const TextStyle& style, double width);

// At most so many lines; the last is cut.
std::vector<std::string> first_lines(std::vector<std::string> lines, size_t most, const TextStyle& style,
                                     double width);

}  // namespace sluice
