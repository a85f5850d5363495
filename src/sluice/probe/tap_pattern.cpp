#include "sluice/probe/tap_pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/base/suggest.h"

namespace sluice {
namespace {

constexpr std::string_view kLayers = "layers.";

// `pattern` with * for any text, also none.
bool fits(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.starts_with("**")) return fits(pattern.substr(1), text);  // the same as one, and far quicker
  if (pattern.front() != '*')
    return !text.empty() && pattern.front() == text.front() && fits(pattern.substr(1), text.substr(1));
  for (size_t skipped = 0; skipped <= text.size(); ++skipped) {
    if (fits(pattern.substr(1), text.substr(skipped))) return true;
  }
  return false;
}

}  // namespace

TapPattern::TapPattern(std::string_view text) : text_(text), point_(text) {
  constexpr size_t kLongest = 64;  // far beyond any name; bounds the search for a fit
  if (text.size() > kLongest) {
    throw usage_error(
        {.what = "bad tap", .expected = "a short name", .got = fmt::format("\"{:.40}...\"", text)});
  }
  if (text.starts_with(kLayers)) {
    const std::string_view rest = text.substr(kLayers.size());
    const size_t dot = std::min(rest.find('.'), rest.size());
    layers_ = IndexSet::parse(rest.substr(0, dot));
    point_ = rest.substr(std::min(dot + 1, rest.size()));
    in_layers_ = true;
  }
  if (std::ranges::any_of(points::kAll, [&](const TapPoint& point) { return matches_point(point); })) return;
  std::vector<std::string> names;
  for (const TapPoint& point : points::kAll) names.emplace_back(point.name);
  throw usage_error({.what = fmt::format("no tap fits \"{}\"", text),
                     .hint = did_you_mean(point_, names).empty() ? "docs/taps.md lists them"
                                                                 : did_you_mean(point_, names)});
}

bool TapPattern::matches_point(const TapPoint& point) const {
  return !(in_layers_ && point.place == TapPlace::Model) && fits(point_, point.name);
}

bool TapPattern::matches(const TapName& name) const {
  if (name.layer == TapName::kNoLayer) return !in_layers_ && fits(point_, name.point);
  return fits(point_, name.point) && layers_.contains(name.layer);
}

}  // namespace sluice
