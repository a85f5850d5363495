#include "sluice/probe/index_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "sluice/base/error.h"

namespace sluice {
namespace {

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return value;
}

Error bad_set(std::string_view text) {
  return usage_error({.what = "bad list of indices",
                      .expected = "numbers and ranges such as 0,3-5,8-",
                      .got = fmt::format("\"{:.40}\"", text)});
}

}  // namespace

IndexSet IndexSet::parse(std::string_view text) {
  IndexSet set;
  if (text == "*") return set;
  for (std::string_view rest = text;;) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const size_t dash = item.find('-');
    const auto first = number(item.substr(0, dash));
    const bool open = dash != std::string_view::npos && dash + 1 == item.size();
    const auto last = dash == std::string_view::npos ? first : open ? kOpen : number(item.substr(dash + 1));
    if (!first || !last || *last < *first) throw bad_set(text);
    set.ranges_.push_back({*first, *last});
    if (item.size() == rest.size()) return set;
    rest.remove_prefix(item.size() + 1);
  }
}

bool IndexSet::contains(int64_t index) const {
  return is_all() || std::ranges::any_of(ranges_, [&](const Span& span) {
           return span.first <= index && index <= span.last;
         });
}

int64_t IndexSet::largest() const {
  int64_t largest = -1;
  for (const Span& span : ranges_) largest = std::max(largest, span.last == kOpen ? span.first : span.last);
  return largest;
}

}  // namespace sluice
