#include "sluice/data/synth/grammar.h"

#include <algorithm>
#include <array>

#include "sluice/base/assert.h"
#include "sluice/data/synth/words.h"

namespace sluice::synth {
namespace {

constexpr std::array<std::string_view, 21> kNumbers = {
    "no",       "one",     "two",     "three",     "four",     "five",     "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};

bool is_vowel(char c) {
  return std::string_view("aeiouAEIOU").find(c) != std::string_view::npos;
}

bool starts_with_vowel(std::string_view text) {
  return !text.empty() && is_vowel(text.front());
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::vector<std::string_view> alternatives(std::string_view inside) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t bar = inside.find('|');
    parts.push_back(inside.substr(0, bar));
    if (bar == std::string_view::npos) return parts;
    inside.remove_prefix(bar + 1);
  }
}

}  // namespace

std::string in_words(int number) {
  const bool short_enough = number >= 0 && static_cast<size_t>(number) < kNumbers.size();
  return short_enough ? std::string(kNumbers[static_cast<size_t>(number)]) : std::to_string(number);
}

std::string plural(std::string_view noun) {
  const auto ends = [&](std::string_view ending) { return noun.ends_with(ending); };
  const bool consonant_y = ends("y") && noun.size() > 1 && !is_vowel(noun[noun.size() - 2]);
  if (consonant_y) return std::string(noun.substr(0, noun.size() - 1)) + "ies";
  if (ends("s") || ends("x") || ends("ch") || ends("sh")) return std::string(noun) + "es";
  return std::string(noun) + "s";
}

std::string capitalised(std::string text) {
  // Behind a quotation mark, too.
  const size_t first = text.find_first_not_of('"');
  if (first != std::string::npos && text[first] >= 'a' && text[first] <= 'z')
    text[first] = static_cast<char>(text[first] - 'a' + 'A');
  return text;
}

void Writer::set(std::string_view name, std::string value) {
  words_.insert_or_assign(std::string(name), std::move(value));
}

void Writer::set(std::string_view name, int value) {
  numbers_.insert_or_assign(std::string(name), value);
}

const std::string& Writer::word(std::string_view name) const {
  const auto found = words_.find(name);
  SLUICE_ASSERT(found != words_.end(), "synth: \"{}\" is not set", name);
  return found->second;
}

int Writer::number(std::string_view name) const {
  const auto found = numbers_.find(name);
  SLUICE_ASSERT(found != numbers_.end(), "synth: the number \"{}\" is not set", name);
  return found->second;
}

std::string Writer::text(std::string_view pattern) {
  std::string out;
  expand(pattern, out);
  return out;
}

void Writer::expand(std::string_view pattern, std::string& out) {
  while (!pattern.empty()) {
    const size_t open = std::min(pattern.find_first_of("{["), pattern.size());
    out += pattern.substr(0, open);
    pattern.remove_prefix(open);
    if (pattern.empty()) return;
    const size_t close = pattern.find(pattern.front() == '{' ? '}' : ']');
    SLUICE_ASSERT(close != std::string_view::npos, "synth: nothing closes \"{}\"", pattern);
    const std::string_view inside = pattern.substr(1, close - 1);
    if (pattern.front() == '{') {
      out += slot(inside);
    } else {
      expand(dice_.pick(alternatives(inside)), out);
    }
    pattern.remove_prefix(close + 1);
  }
}

std::string Writer::slot(std::string_view inside) {
  const bool capital = take(inside, "^");
  const bool article = take(inside, "a ");
  std::string text;
  if (take(inside, "#")) {
    text = std::to_string(number(inside));
  } else if (const size_t star = inside.find('*'); star != std::string_view::npos) {
    text = counted(inside.substr(0, star), inside.substr(star + 1));
  } else if (const size_t equals = inside.find('='); equals != std::string_view::npos) {
    text = this->text(rule(inside.substr(equals + 1)));
    set(inside.substr(0, equals), text);
  } else {
    text = value(inside);
  }
  if (article) text.insert(0, starts_with_vowel(text) ? "an " : "a ");
  return capital ? capitalised(std::move(text)) : text;
}

std::string Writer::value(std::string_view name) {
  if (const auto found = words_.find(name); found != words_.end()) return found->second;
  if (const auto found = numbers_.find(name); found != numbers_.end()) return in_words(found->second);
  return text(rule(name));
}

std::string Writer::counted(std::string_view number_name, std::string_view noun) const {
  const auto found = words_.find(noun);
  const std::string one = found == words_.end() ? std::string(noun) : found->second;
  const int count = number(number_name);
  return in_words(count) + " " + (count == 1 ? one : plural(one));
}

Patterns Writer::rule(std::string_view name) const {
  for (const std::span<const Rule> table : {rules_, shared_rules()}) {
    const auto found = std::ranges::find(table, name, &Rule::name);
    if (found != table.end()) return found->entries;
  }
  SLUICE_ASSERT(false, "synth: no rule \"{}\"", name);
}

}  // namespace sluice::synth
