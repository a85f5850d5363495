// Tokens as text that can be seen.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

// Spaces as a middle dot, line ends as a return sign, tabs as an arrow; other control characters (those
// that turn text around too) and what is
// no UTF-8 as U+FFFD; a token without bytes as the sign of the empty set.
std::string token_text(std::string_view bytes);

}  // namespace sluice
