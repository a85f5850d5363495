#include "sluice/dist/fingerprint.h"

#include <fmt/format.h>

#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"

namespace sluice {
namespace {

// Long ones are told by their checksum.
std::string short_form(const std::string& value) {
  constexpr size_t kShort = 120;
  return value.size() <= kShort ? value : fmt::format("checksum {:08x}", crc32c(value));
}

}  // namespace

void check_same_everywhere(Ranks& ranks, const std::vector<Fingerprint>& own) {
  if (ranks.size() == 1) return;
  for (const Fingerprint& print : own) {
    const std::vector<std::string> all = all_gather(ranks, print.value);
    for (int rank = 1; rank < ranks.size(); ++rank) {
      const std::string& other = all[static_cast<size_t>(rank)];
      if (other == all.front()) continue;
      throw bad_input({.where = ranks.name_of(rank),
                       .what = fmt::format("another {} than {}", print.what, ranks.name_of(0)),
                       .expected = short_form(all.front()),
                       .got = short_form(other)});
    }
  }
}

void check_same_version(Ranks& ranks, const BuildInfo& own) {
  check_same_everywhere(ranks, {{"version of sluice", fmt::format("{} ({})", own.version, own.compiler)}});
}

}  // namespace sluice
