// Reading JSON written by people and strangers: every error is bad input that names file, path, expected and
// got. Parsing is in json_parse.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/error.h"

#include "sluice/base/assert.h"

namespace sluice {

struct JsonLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t depth = 64;
  // A value takes up to a hundred times the memory of its text. The largest published tokenizers have a
  // million.
  std::size_t values = std::size_t{4} << 20;
};

// Both ends belong to the range; an end left alone is unbounded.
struct IntegerRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

struct NumberRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};
inline constexpr NumberRange kFinite{-1e300, 1e300};  // sums of a few stay finite, too

template <typename T>
struct Choice {
  std::string_view name;
  T value;
};

// The other way round; the value must have a name.
template <typename T, std::size_t N>
std::string_view word_for(const Choice<T> (&choices)[N], T value) {
  const auto* found = std::ranges::find(choices, value, &Choice<T>::value);
  SLUICE_ASSERT(found != std::end(choices), "word_for: no word for this value");
  return found->name;
}

// A value inside a parsed document, with the path that led to it. Cheap to copy; keeps the document alive.
//
// Getters with a key read that member and refuse its absence; the `_or` ones give the fallback when the
// member is absent or null, which published model configurations use alike.
class Json {
 public:
  // Strict JSON: duplicate keys, invalid UTF-8 and comments are refused.
  static Json parse(std::string_view text, const std::string& source_name, JsonLimits limits = {});
  static Json load(const std::filesystem::path& path, JsonLimits limits = {});

  bool is_null() const;
  bool is_object() const;
  bool is_array() const;
  bool is_text() const;
  bool contains(std::string_view key) const;  // and is not null

  Json at(std::string_view key) const;
  Json at(std::size_t index) const;
  std::vector<Json> array() const;
  std::vector<std::pair<std::string, Json>> object() const;  // sorted by key

  std::int64_t integer(IntegerRange range = {}) const;
  double number(NumberRange range = {}) const;
  bool boolean() const;
  std::string text() const;

  std::int64_t integer(std::string_view key, IntegerRange range = {}) const { return at(key).integer(range); }
  double number(std::string_view key, NumberRange range = {}) const { return at(key).number(range); }
  bool boolean(std::string_view key) const { return at(key).boolean(); }
  std::string text(std::string_view key) const { return at(key).text(); }

  std::int64_t integer_or(std::string_view key, std::int64_t fallback, IntegerRange range = {}) const {
    return contains(key) ? integer(key, range) : fallback;
  }
  std::optional<double> optional_number(std::string_view key, NumberRange range = {}) const {
    return contains(key) ? std::optional(number(key, range)) : std::nullopt;
  }
  double number_or(std::string_view key, double fallback, NumberRange range = {}) const {
    return contains(key) ? number(key, range) : fallback;
  }
  bool boolean_or(std::string_view key, bool fallback) const {
    return contains(key) ? boolean(key) : fallback;
  }
  std::string text_or(std::string_view key, std::string_view fallback) const {
    return contains(key) ? text(key) : std::string(fallback);
  }

  // The value that the text names: choice<Gate>("gate", {{"none", Gate::None}, {"headwise",
  // Gate::Headwise}}).
  template <typename T, std::size_t N>
  T choice(const Choice<T> (&choices)[N]) const {
    std::vector<std::string> names;
    for (const Choice<T>& each : choices) names.emplace_back(each.name);
    return choices[choice_index(names)].value;
  }

  template <typename T, std::size_t N>
  T choice(std::string_view key, const Choice<T> (&choices)[N]) const {
    return at(key).template choice<T>(choices);
  }

  template <typename T, std::size_t N>
  T choice_or(std::string_view key, T fallback, const Choice<T> (&choices)[N]) const {
    return contains(key) ? choice<T>(key, choices) : fallback;
  }

  // Refuses any other key of this object.
  void allow_keys(std::initializer_list<std::string_view> keys) const;

  // For checks of the caller's own: throw value.unexpected("even number").
  Error unexpected(std::string expected, std::string hint = "") const;

  std::string where() const;                             // "run.json: model.layers[2].kind"
  const nlohmann::json& node() const { return *node_; }  // for bulk reading; as long as any view lives

 private:
  struct Document;

  Json(std::shared_ptr<const Document> document, const nlohmann::json* node, std::string path);
  void require_object() const;
  std::size_t choice_index(const std::vector<std::string>& names) const;

  std::shared_ptr<const Document> document_;
  const nlohmann::json* node_;
  std::string path_;
};

}  // namespace sluice
