// Words of a line.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::test {

// "has some text" → "has", "some text". One space separates; further ones belong to the rest.
inline std::pair<std::string, std::string> split_word(std::string_view text) {
  const size_t end = text.find(' ');
  if (end == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, end)), std::string(text.substr(end + 1))};
}

inline std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    auto [word, rest] = split_word(text);
    if (!word.empty()) words.push_back(std::move(word));
    text.remove_prefix(text.size() - rest.size());
  }
  return words;
}

}  // namespace sluice::test
