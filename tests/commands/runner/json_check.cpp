#include "tests/commands/runner/json_check.h"

#include <cmath>
#include <sstream>
#include <stdexcept>

#include "tests/commands/runner/check.h"
#include "tests/commands/runner/json_path.h"
#include "tests/commands/runner/words.h"

namespace sluice::test {
namespace {

using Json = nlohmann::json;
using Got = std::optional<std::string>;

// Whether a value is as expected; the text behind the operation has its variables filled in.
using Test = std::function<bool(const OrderedJson& value, const std::string& expected)>;

Json parsed(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw std::invalid_argument("not a JSON value: " + text);
  return json;
}

double number(const Json& json) {
  if (!json.is_number()) throw std::invalid_argument("not a number: " + json.dump());
  return json.get<double>();
}

// The order of members does not matter.
bool equal(const OrderedJson& value, const std::string& expected) {
  return Json(value) == parsed(expected);
}

bool close(const OrderedJson& value, const std::string& expected) {
  const size_t sign = expected.find(" +- ");
  if (sign == std::string::npos) throw std::invalid_argument("expected \"~ NUMBER +- TOLERANCE\"");
  const double middle = number(parsed(expected.substr(0, sign)));
  const double tolerance = number(parsed(expected.substr(sign + 4)));
  return value.is_number() && std::abs(value.get<double>() - middle) <= tolerance;
}

template <class Compare>
bool compares(const OrderedJson& value, const std::string& expected) {
  return value.is_number() && Compare()(value.get<double>(), number(parsed(expected)));
}

bool has_size(const OrderedJson& value, const std::string& expected) {
  return value.is_structured() && static_cast<double>(value.size()) == number(parsed(expected));
}

bool has_keys(const OrderedJson& value, const std::string& expected) {
  std::vector<std::string> keys;
  for (const auto& [key, member] : value.items()) keys.push_back(key);
  return value.is_object() && keys == words_of(expected);
}

bool matches(const OrderedJson& value, const std::string& expected) {
  return value.is_string() && std::regex_search(value.get<std::string>(), regular_expression(expected));
}

Test test_of(const std::string& operation) {
  if (operation == "=") return equal;
  if (operation == "!=") return [](const auto& value, const auto& other) { return !equal(value, other); };
  if (operation == "~") return close;
  if (operation == "<") return compares<std::less<>>;
  if (operation == "<=") return compares<std::less_equal<>>;
  if (operation == ">") return compares<std::greater<>>;
  if (operation == ">=") return compares<std::greater_equal<>>;
  if (operation == "size") return has_size;
  if (operation == "keys") return has_keys;
  if (operation == "matches") return matches;
  throw std::invalid_argument(
      "expected =, !=, ~, <, <=, >, >=, size, keys, matches, exists or missing, got \"" + operation + "\"");
}

using Parse = OrderedJson (*)(const std::string& text);

OrderedJson one_value(const std::string& text) {
  return OrderedJson::parse(text, nullptr, false);
}

OrderedJson value_per_line(const std::string& text) {
  OrderedJson values = OrderedJson::array();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    values.push_back(one_value(line));
    if (values.back().is_discarded()) return values.back();
  }
  return values;
}

// A long value would hide the rest of the message.
std::string shortened(const std::string& text) {
  return text.size() <= 200 ? text : text.substr(0, 200) + " …";
}

Got look(const JsonPath::Found& found, const Test& test, const std::string& expected) {
  const std::string path = found.path.empty() ? "." : found.path;
  if (found.value == nullptr) return "no " + path;
  if (test(*found.value, expected)) return std::nullopt;
  return path + " = " + shortened(found.value->dump());
}

Got existence(const JsonPath::Found& found, bool wanted) {
  if ((found.value != nullptr) == wanted) return std::nullopt;
  return wanted ? "no " + found.path : found.path + " = " + shortened(found.value->dump());
}

// A path may have quoted spaces.
std::pair<std::string, std::string> split_path(const std::string& text) {
  bool quoted = false;
  size_t end = 0;
  for (; end < text.size() && (quoted || text[end] != ' '); ++end) {
    if (text[end] == '"') quoted = !quoted;
  }
  return {text.substr(0, end), end == text.size() ? "" : text.substr(end + 1)};
}

Check json_check(Parse parse, const std::string& rest) {
  const auto [path_text, what] = split_path(rest);
  const JsonPath path(path_text);
  const auto [operation, expected] = split_word(what);
  const bool is_existence = what == "exists" || what == "missing";
  const Test test = is_existence ? Test() : test_of(operation);
  return [=, wanted = what == "exists", expected = expected](const Outcome& outcome) -> Got {
    const OrderedJson json = parse(outcome.run.out);
    if (json.is_discarded()) return "no JSON on stdout";
    const std::string value = expand(expected, outcome.variables);
    for (const JsonPath::Found& found : path.find(json)) {
      const Got got = is_existence ? existence(found, wanted) : look(found, test, value);
      if (got) return got;
    }
    return std::nullopt;
  };
}

}  // namespace

Check check_one_json(const std::string& rest) {
  return json_check(one_value, rest);
}

Check check_json_lines(const std::string& rest) {
  return json_check(value_per_line, rest);
}

Check save_value(const std::string& rest) {
  const auto [name, path_text] = split_word(rest);
  if (expand("$" + name, {{name, "known"}}) != "known")
    throw std::invalid_argument("expected a name of capital letters, got \"" + name + "\"");
  const JsonPath path(path_text);
  return [=, name = name](const Outcome& outcome) -> Got {
    const OrderedJson json = one_value(outcome.run.out);
    if (json.is_discarded()) return "no JSON on stdout";
    const std::vector<JsonPath::Found> found = path.find(json);
    if (found.size() != 1 || found[0].value == nullptr) return "no " + found[0].path;
    const OrderedJson& value = *found[0].value;
    outcome.variables[name] = value.is_string() ? value.get<std::string>() : value.dump();
    return std::nullopt;
  };
}

std::regex regular_expression(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error&) {
    throw std::invalid_argument("not a regular expression: " + text);
  }
}

}  // namespace sluice::test
