#include "tests/commands/runner/json_path.h"

#include <charconv>
#include <stdexcept>

namespace sluice::test {
namespace {

using Found = JsonPath::Found;

std::string_view take_until(std::string_view& text, std::string_view ends) {
  const std::string_view taken = text.substr(0, text.find_first_of(ends));
  text.remove_prefix(taken.size());
  return taken;
}

Found member(const Found& at, const std::string& name) {
  const std::string path = at.path.empty() ? name : at.path + "." + name;
  if (at.value == nullptr || !at.value->is_object() || !at.value->contains(name)) return {path, nullptr};
  return {path, &(*at.value)[name]};
}

Found element(const Found& at, int index) {
  const std::string path = at.path + "[" + std::to_string(index) + "]";
  if (at.value == nullptr || !at.value->is_array()) return {path, nullptr};
  const int size = static_cast<int>(at.value->size()), place = index < 0 ? size + index : index;
  if (place < 0 || place >= size) return {path, nullptr};
  return {path, &(*at.value)[static_cast<size_t>(place)]};
}

std::vector<Found> elements(const Found& at) {
  if (at.value == nullptr || !at.value->is_array() || at.value->empty()) return {{at.path + "[*]", nullptr}};
  std::vector<Found> all;
  for (size_t i = 0; i < at.value->size(); ++i) all.push_back(element(at, static_cast<int>(i)));
  return all;
}

}  // namespace

JsonPath::JsonPath(std::string_view text) {
  if (text.empty()) throw std::invalid_argument("expected a path into the JSON, such as rows[0].name");
  if (text == ".") return;
  while (!text.empty()) {
    if (text.starts_with('[')) {
      add_index(text);
    } else {
      if (!steps_.empty() && text.starts_with('.')) text.remove_prefix(1);
      add_name(text);
    }
  }
}

void JsonPath::add_name(std::string_view& text) {
  if (text.starts_with('"')) {
    text.remove_prefix(1);
    steps_.push_back({.name = std::string(take_until(text, "\""))});
    if (text.empty()) throw std::invalid_argument("a name in the path has no closing quote");
    text.remove_prefix(1);
    return;
  }
  steps_.push_back({.name = std::string(take_until(text, ".["))});
  if (steps_.back().name.empty()) throw std::invalid_argument("an empty name in the path");
}

void JsonPath::add_index(std::string_view& text) {
  text.remove_prefix(1);
  const std::string_view number = take_until(text, "]");
  if (text.empty()) throw std::invalid_argument("expected ] in the path");
  text.remove_prefix(1);
  int index = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
  const bool is_number = error == std::errc() && end == number.data() + number.size();
  if (!is_number && number != "*") throw std::invalid_argument("expected a number or * between [ and ]");
  steps_.push_back({.index = index, .every = number == "*"});
}

std::vector<Found> JsonPath::find(const OrderedJson& json) const {
  std::vector<Found> found = {{"", &json}};
  for (const Step& step : steps_) {
    std::vector<Found> next;
    for (const Found& at : found) {
      const std::vector<Found> further = step.every   ? elements(at)
                                         : step.index ? std::vector{element(at, *step.index)}
                                                      : std::vector{member(at, step.name)};
      next.insert(next.end(), further.begin(), further.end());
    }
    found = std::move(next);
  }
  return found;
}

}  // namespace sluice::test
