#include "sluice/dist/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"

namespace sluice {
namespace {

// Long ones are told by their checksum.
std::string short_form(const std::string& value) {
  constexpr size_t kShort = 120;
  return value.size() <= kShort ? value : fmt::format("checksum {:08x}", crc32c(value));
}

// The first value in which two objects differ, and where it is; the texts themselves if they are none.
struct Difference {
  std::string place, expected, got;
};

Difference difference_of(const std::string& expected, const std::string& got) {
  const auto parsed = [](const std::string& text) { return nlohmann::json::parse(text, nullptr, false); };
  const nlohmann::json left = parsed(expected), right = parsed(got);
  if (!left.is_object() || !right.is_object() || left == right)
    return {.place = "", .expected = short_form(expected), .got = short_form(got)};
  const std::string pointer = nlohmann::json::diff(left, right).front()["path"];
  const auto value_in = [&](const nlohmann::json& json) {
    const nlohmann::json::json_pointer place(pointer);
    return json.contains(place) ? short_form(json[place].dump()) : "nothing";
  };
  Difference difference{.place = pointer.substr(1), .expected = value_in(left), .got = value_in(right)};
  std::ranges::replace(difference.place, '/', '.');
  return difference;
}

}  // namespace

void check_same_everywhere(Ranks& ranks, const std::vector<Fingerprint>& own) {
  if (ranks.size() == 1) return;
  for (const Fingerprint& print : own) {
    const std::vector<std::string> all = all_gather(ranks, print.value);
    for (int rank = 1; rank < ranks.size(); ++rank) {
      const std::string& other = all[static_cast<size_t>(rank)];
      if (other == all.front()) continue;
      const Difference difference = difference_of(all.front(), other);
      throw bad_input({.where = ranks.name_of(rank),
                       .what = fmt::format("its {} is not that of {}{}{}", print.what, ranks.name_of(0),
                                           difference.place.empty() ? "" : ", in ", difference.place),
                       .expected = difference.expected,
                       .got = difference.got});
    }
  }
}

void check_same_version(Ranks& ranks, const BuildInfo& own) {
  check_same_everywhere(ranks, {{"version of sluice", fmt::format("{} ({})", own.version, own.compiler)}});
}

}  // namespace sluice
