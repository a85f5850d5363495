#include "sluice/base/json_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

constexpr std::size_t kShownBytes = 40;

bool is_plain(std::string_view key) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !key.empty() && key.size() <= kShownBytes && std::all_of(key.begin(), key.end(), plain);
}

std::string shortened(std::string_view text) {
  if (text.size() <= kShownBytes) return std::string(text);
  std::size_t end = kShownBytes - 3;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (end > 0 && continues(end)) --end;  // not in the middle of a UTF-8 character
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace

std::string member_path(std::string_view parent, std::string_view key) {
  if (!is_plain(key)) return fmt::format("{}[{}]", parent, in_quotes(key));
  return fmt::format("{}{}{}", parent, parent.empty() ? "" : ".", key);
}

std::string element_path(std::string_view parent, std::size_t index) {
  return fmt::format("{}[{}]", parent, index);
}

std::string json_location(std::string_view source, std::string_view path) {
  return path.empty() ? std::string(source) : fmt::format("{}: {}", source, path);
}

std::string in_quotes(std::string_view text) {
  // `replace`: program-made text, such as a key asked for, need not be UTF-8; a message about it must not
  // throw.
  return nlohmann::json(shortened(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string described(const nlohmann::json& value) {
  if (value.is_object()) return value.empty() ? "an empty object" : "an object";
  if (value.is_array()) return value.empty() ? "an empty array" : fmt::format("an array of {}", value.size());
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  return value.dump();
}

}  // namespace sluice
