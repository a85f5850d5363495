#include "sluice/text/added_tokens.h"

#include <algorithm>

namespace sluice {
namespace {

std::uint64_t edge(std::uint32_t node, char byte) {
  return std::uint64_t{node} * 256 + static_cast<unsigned char>(byte);
}

std::size_t white_space_at_end(std::string_view text) {
  const std::size_t size = text.size();
  while (!text.empty()) {
    const Utf8Character c = last_character(text);
    if (!is_white_space(c.value)) break;
    text.remove_suffix(c.length);
  }
  return size - text.size();
}

std::size_t white_space_at_front(std::string_view text) {
  const std::size_t size = text.size();
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    if (!is_white_space(c.value)) break;
    text.remove_prefix(c.length);
  }
  return size - text.size();
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(const std::vector<AddedToken>& tokens) : tokens_(tokens) {
  for (std::uint32_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].content.empty()) continue;
    begins_token_[static_cast<unsigned char>(tokens_[i].content.front())] = true;
    std::uint32_t node = 0;
    for (const char byte : tokens_[i].content) {
      const auto fresh = static_cast<std::uint32_t>(ends_.size());
      const auto [place, is_new] = edges_.emplace(edge(node, byte), fresh);
      if (is_new) ends_.push_back(kNoToken);
      node = place->second;
    }
    if (ends_[node] == kNoToken) ends_[node] = i;  // contents may become alike by normalisation
  }
}

bool AddedTokenFinder::longest_at(std::string_view text, std::size_t at, Found& found) const {
  std::uint32_t node = 0;
  bool any = false;
  for (std::size_t i = at; i < text.size(); ++i) {
    const auto next = edges_.find(edge(node, text[i]));
    if (next == edges_.end()) break;
    node = next->second;
    if (ends_[node] == kNoToken) continue;
    found.begin = at;
    found.end = i + 1;
    found.token = ends_[node];
    any = true;
  }
  return any;
}

bool AddedTokenFinder::stands_alone(std::string_view text, const Found& found) const {
  const std::string_view before = text.substr(0, found.begin), behind = text.substr(found.end);
  return (before.empty() || !is_word_character(last_character(before).value)) &&
         (behind.empty() || !is_word_character(first_character(behind).value));
}

bool AddedTokenFinder::find(std::string_view text, std::size_t done, Found& found) const {
  if (edges_.empty()) return false;
  for (std::size_t at = found.search_from; at < text.size();) {
    if (!begins_token_[static_cast<unsigned char>(text[at])] || !longest_at(text, at, found)) {
      ++at;
      continue;
    }
    at = found.search_from = found.end;
    const AddedToken& token = tokens_[found.token];
    if (token.single_word && !stands_alone(text, found)) continue;
    if (token.strip_left) {
      found.begin = std::max(done, found.begin - white_space_at_end(text.substr(0, found.begin)));
    }
    if (token.strip_right) found.end += white_space_at_front(text.substr(found.end));
    return true;
  }
  return false;
}

}  // namespace sluice
