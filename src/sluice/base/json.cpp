#include "sluice/base/json.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/json_document.h"
#include "sluice/base/json_path.h"
#include "sluice/base/suggest.h"

namespace sluice {
namespace {

// "integer", "integer >= 1", "integer <= 8" or "integer from 1 to 8".
template <typename Range>
std::string expectation(const char* kind, const Range& range) {
  const bool has_min = range.min != Range{}.min;
  const bool has_max = range.max != Range{}.max;
  if (has_min && has_max) return fmt::format("{} from {} to {}", kind, range.min, range.max);
  if (has_min) return fmt::format("{} >= {}", kind, range.min);
  if (has_max) return fmt::format("{} <= {}", kind, range.max);
  return kind;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string line;
  for (const std::string& part : parts) line += (line.empty() ? "" : ", ") + part;
  return line;
}

}  // namespace

Json::Json(std::shared_ptr<const Document> document, const nlohmann::json* node, std::string path)
    : document_(std::move(document)), node_(node), path_(std::move(path)) {}

bool Json::is_null() const {
  return node_->is_null();
}

bool Json::is_object() const {
  return node_->is_object();
}

bool Json::is_array() const {
  return node_->is_array();
}

bool Json::is_text() const {
  return node_->is_string();
}

bool Json::contains(std::string_view key) const {
  require_object();
  const auto member = node_->find(std::string(key));
  return member != node_->end() && !member->is_null();
}

Json Json::at(std::string_view key) const {
  require_object();
  const auto member = node_->find(std::string(key));
  const std::string path = member_path(path_, key);
  if (member == node_->end()) {
    throw bad_input({.where = json_location(document_->source, path), .what = "required key is missing"});
  }
  return Json(document_, &*member, path);
}

Json Json::at(std::size_t index) const {
  if (!node_->is_array()) throw unexpected("array");
  if (index >= node_->size()) throw unexpected(fmt::format("array of at least {}", index + 1));
  return Json(document_, &(*node_)[index], element_path(path_, index));
}

std::vector<Json> Json::array() const {
  if (!node_->is_array()) throw unexpected("array");
  std::vector<Json> elements;
  elements.reserve(node_->size());
  for (std::size_t i = 0; i < node_->size(); ++i) elements.push_back(at(i));
  return elements;
}

std::vector<std::pair<std::string, Json>> Json::object() const {
  require_object();
  std::vector<std::pair<std::string, Json>> members;
  members.reserve(node_->size());
  for (const auto& [key, value] : node_->items()) {
    members.emplace_back(key, Json(document_, &value, member_path(path_, key)));
  }
  return members;
}

std::int64_t Json::integer(IntegerRange range) const {
  if (!node_->is_number_integer()) throw unexpected(expectation("integer", range));
  constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
  if (node_->is_number_unsigned() && node_->get<std::uint64_t>() > std::uint64_t{kLargest}) {
    throw unexpected(fmt::format("integer <= {}", range.max));
  }
  const auto value = node_->get<std::int64_t>();
  if (value < range.min || value > range.max) throw unexpected(expectation("integer", range));
  return value;
}

double Json::number(NumberRange range) const {
  if (!node_->is_number()) throw unexpected(expectation("number", range));
  const auto value = node_->get<double>();
  if (value < range.min || value > range.max) throw unexpected(expectation("number", range));
  return value;
}

bool Json::boolean() const {
  if (!node_->is_boolean()) throw unexpected("true or false");
  return node_->get<bool>();
}

std::string Json::text() const {
  if (!node_->is_string()) throw unexpected("string");
  return node_->get<std::string>();
}

void Json::allow_keys(std::initializer_list<std::string_view> keys) const {
  require_object();
  const std::vector<std::string> valid(keys.begin(), keys.end());
  for (const auto& [key, value] : node_->items()) {
    if (std::find(valid.begin(), valid.end(), key) != valid.end()) continue;
    std::string hint = did_you_mean(key, valid);
    if (hint.empty()) hint = "valid keys: " + joined(valid);
    const std::string where = json_location(document_->source, member_path(path_, key));
    throw bad_input({.where = where, .what = "unknown key", .hint = hint});
  }
}

Error Json::unexpected(std::string expected, std::string hint) const {
  return bad_input(
      {.where = where(), .expected = std::move(expected), .got = described(*node_), .hint = std::move(hint)});
}

std::string Json::where() const {
  return json_location(document_->source, path_);
}

void Json::require_object() const {
  if (!node_->is_object()) throw unexpected("object");
}

std::size_t Json::choice_index(const std::vector<std::string>& names) const {
  const bool is_string = node_->is_string();
  const std::string name = is_string ? text() : "";
  const auto found = std::find(names.begin(), names.end(), name);
  if (is_string && found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::vector<std::string> shown(names.size());
  std::transform(names.begin(), names.end(), shown.begin(), in_quotes);
  throw unexpected("one of " + joined(shown), did_you_mean(name, names));
}

}  // namespace sluice
