// Lines of a text that have something on them, with their numbers for errors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace sluice {

template <typename Sink>
void for_each_line(std::string_view text, std::size_t first_number, const Sink& sink) {
  for (std::size_t number = first_number; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) sink(number, line);
  }
}

}  // namespace sluice
