// Text of strangers inside SVG and HTML.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

// One line of well-formed UTF-8 without control characters, which XML cannot hold: these become spaces, and
// what is no character U+FFFD.
std::string printable(std::string_view text);

// For the content of an element or a quoted attribute. Line ends and tabs stay, other control characters
// become spaces.
std::string escaped_markup(std::string_view text);

}  // namespace sluice
