#include "sluice/text/pattern_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sluice {
namespace {

// Unicode's White_Space. PCRE2's \s has U+180E as well. A range comes last, so that a hyphen after it in a
// class is one to PCRE2 too.
constexpr std::string_view kWhiteSpace =
    R"(\x{20}\x{85}\x{a0}\x{1680}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{9}-\x{d}\x{2000}-\x{200a})";

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : rest_(pattern) {}

  PatternTranslation run() {
    while (!rest_.empty() && problem_.empty()) outside_class();
    if (!problem_.empty()) return {"", std::move(problem_)};
    return {std::move(out_), ""};
  }

 private:
  void outside_class() {
    switch (rest_.front()) {
      case '\\':
        return escape(false);
      case '[':
        return character_class();
      case '(':
        return group();
      case '{':
        return interval();
      default:
        return keep(1);
    }
  }

  void keep(std::size_t count) {
    out_ += rest_.substr(0, count);
    rest_.remove_prefix(count);
  }

  void replace(std::size_t count, std::string_view with) {
    out_ += with;
    rest_.remove_prefix(count);
  }

  void refuse(std::string problem) { problem_ = std::move(problem); }

  void group() {
    for (const std::string_view start : {"(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>"}) {
      if (rest_.starts_with(start)) return keep(start.size());
    }
    if (rest_.starts_with("(?") || rest_.starts_with("(*")) {
      return refuse(fmt::format("groups that begin with \"{}\" are not supported", rest_.substr(0, 3)));
    }
    keep(1);
  }

  // {2}, {2,} or {2,3}. Oniguruma repeats once more after a + behind it, PCRE2 makes it possessive.
  void interval() {
    const auto close = rest_.find('}');
    const std::string_view inner = rest_.substr(1, close == std::string_view::npos ? 0 : close - 1);
    const auto comma = inner.find(',');
    const std::string_view low = inner.substr(0, comma);
    const std::string_view high = comma == std::string_view::npos ? "" : inner.substr(comma + 1);
    if (inner.empty() || low.empty() || !std::ranges::all_of(low, is_digit) ||
        !std::ranges::all_of(high, is_digit)) {
      return refuse("a brace must be escaped or be a repetition like {2}, {2,} or {2,3}");
    }
    const std::string_view after = rest_.substr(close + 1);
    if (after.starts_with('+') || (comma == std::string_view::npos && after.starts_with('?'))) {
      return refuse(fmt::format("\"{}\" after a repetition is not supported", after.front()));
    }
    keep(close + 1);
  }

  void character_class() {
    keep(rest_.starts_with("[^") ? 2 : 1);
    if (rest_.starts_with(']')) return refuse("a class that begins with \"]\" is not supported");
    while (problem_.empty()) {
      if (rest_.empty()) return refuse("a class without its \"]\"");
      if (rest_.front() == ']') return keep(1);
      if (rest_.front() == '[' || rest_.starts_with("&&")) {
        return refuse("a class inside a class is not supported");
      }
      if (rest_.starts_with("-\\s") || rest_.starts_with("-\\S")) {
        return refuse("a range that ends in white space is not supported");
      }
      if (rest_.front() == '\\') {
        escape(true);
      } else {
        keep(1);
      }
    }
  }

  void escape(bool in_class) {
    if (rest_.size() < 2) return refuse("a backslash at the end");
    const char kind = rest_[1];
    switch (kind) {
      case 's':
        return replace(2, in_class ? std::string(kWhiteSpace) : fmt::format("[{}]", kWhiteSpace));
      case 'S':
        return replace(2, in_class ? R"(\x{180e}\S)" : fmt::format("[^{}]", kWhiteSpace));
      case 'v':  // a vertical tab there, any vertical space here
        return replace(2, R"(\x{b})");
      case 'u':
      case 'x':
        return code_point();
      case 'p':
      case 'P':
        return property();
      default:
        break;
    }
    constexpr std::string_view kSame = "dDrntfae", kSameOutside = "AzZ";
    const bool same = !is_alphanumeric(kind) || kSame.find(kind) != std::string_view::npos ||
                      (!in_class && kSameOutside.find(kind) != std::string_view::npos);
    if (!same) return refuse(fmt::format("\"\\{}\" is not supported here", kind));
    keep(2);
  }

  // \x41, \x{41} or \u0041. Two digits above 7F are a byte to Oniguruma and a character to PCRE2.
  void code_point() {
    if (rest_.starts_with("\\x{")) return in_braces();
    const std::size_t digits = rest_[1] == 'u' ? 4 : 2;
    const std::string_view value = rest_.substr(2, digits);
    if (value.size() < digits || !std::ranges::all_of(value, is_hex) || (digits == 2 && value[0] > '7')) {
      return refuse(fmt::format("expected \\x00 to \\x7F, \\x{{…}} or \\u and four digits, got \"{}\"",
                                rest_.substr(0, digits + 2)));
    }
    replace(digits + 2, fmt::format("\\x{{{}}}", value));
  }

  void property() {
    if (rest_.size() < 3 || rest_[2] != '{') return refuse("\\p and \\P want a name in braces");
    in_braces();
  }

  void in_braces() {
    const auto close = rest_.find('}');
    if (close == std::string_view::npos) return refuse("a brace that is not closed");
    keep(close + 1);
  }

  std::string_view rest_;
  std::string out_;
  std::string problem_;
};

}  // namespace

PatternTranslation to_pcre2(std::string_view pattern) {
  return Translator(pattern).run();
}

}  // namespace sluice
