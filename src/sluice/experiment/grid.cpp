#include "sluice/experiment/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sluice/base/error.h"

namespace sluice {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

GridAxis parse_grid_axis(std::string_view text, std::string_view where) {
  const size_t equals = text.find('=');
  const auto refuse = [&](const char* what) {
    return usage_error({.where = std::string(where),
                        .what = what,
                        .expected = "key=value,value",
                        .got = fmt::format("\"{}\"", text)});
  };
  if (equals == std::string_view::npos || equals == 0) throw refuse("no key");
  GridAxis axis{std::string(text.substr(0, equals)), split(text.substr(equals + 1), ',')};
  if (std::ranges::find(axis.values, "") != axis.values.end()) throw refuse("an empty value");
  std::vector<std::string> sorted = axis.values;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) throw refuse("a value twice");
  return axis;
}

std::string GridPoint::name() const {
  if (!title.empty()) return title;
  if (changes.empty()) return "all";
  std::vector<std::string> parts;
  for (const std::string& change : changes) {
    const size_t equals = change.find('=');
    const std::string key = change.substr(0, equals);
    const std::string short_key = key.substr(key.rfind('.') + 1);  // npos + 1 is 0: the whole key
    parts.push_back(key == "model" ? change.substr(equals + 1)
                                   : fmt::format("{}={}", short_key, change.substr(equals + 1)));
  }
  std::string name = fmt::format("{}", fmt::join(parts, ","));
  std::ranges::replace(name, '/', '_');  // a model may be a path; a name is not
  return name;
}

std::vector<GridPoint> grid_points(const std::vector<GridAxis>& axes) {
  std::vector<GridPoint> points = {{}};
  for (size_t i = 0; i < axes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (axes[i].key == axes[j].key)
        throw usage_error({.where = axes[i].key, .what = "varied twice", .hint = "list its values once"});
    }
    std::vector<GridPoint> longer;
    for (const GridPoint& point : points) {
      for (const std::string& value : axes[i].values) {
        longer.push_back(point);
        longer.back().changes.push_back(fmt::format("{}={}", axes[i].key, value));
      }
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace sluice
