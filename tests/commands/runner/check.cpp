#include "tests/commands/runner/check.h"

#include <algorithm>
#include <charconv>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "tests/commands/runner/json_check.h"
#include "tests/commands/runner/words.h"

namespace sluice::test {
namespace {

using Got = std::optional<std::string>;
using Stream = std::string ProgramRun::*;

constexpr auto kAllIsWell = std::nullopt;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

int integer(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument("expected a number, got \"" + text + "\"");
  return value;
}

// exit CODE
Check exit_code(const std::string& rest) {
  return [expected = integer(rest)](const Outcome& outcome) -> Got {
    if (outcome.run.exit_code == expected) return kAllIsWell;
    return "exit " + std::to_string(outcome.run.exit_code);
  };
}

bool is_error_line(const std::string& text) {
  return text.starts_with("sluice: error: ") && text.ends_with('\n') && std::ranges::count(text, '\n') == 1;
}

// refused CODE: TEXT
Check refusal(const std::string& rest) {
  const size_t colon = rest.find(": ");
  if (colon == std::string::npos)
    throw std::invalid_argument("expected \"refused CODE: part of the message\"");
  const std::string part = rest.substr(colon + 2);
  return [code = integer(rest.substr(0, colon)), part](const Outcome& outcome) -> Got {
    if (outcome.run.exit_code != code) return "exit " + std::to_string(outcome.run.exit_code);
    if (!outcome.run.out.empty()) return "something on stdout";
    if (!is_error_line(outcome.run.err)) return "on stderr something else than one line \"sluice: error: …\"";
    if (outcome.run.err.find(expand(part, outcome.variables)) == std::string::npos) return "another message";
    return kAllIsWell;
  };
}

Check expect_part(Stream stream, const std::string& text, bool wanted) {
  if (text.empty()) throw std::invalid_argument("which text?");
  return [=](const Outcome& outcome) -> Got {
    const bool there = (outcome.run.*stream).find(expand(text, outcome.variables)) != std::string::npos;
    if (there == wanted) return kAllIsWell;
    return wanted ? "no such text" : "the text is there";
  };
}

Check expect_line(Stream stream, const std::string& text) {
  return [=](const Outcome& outcome) -> Got {
    const std::vector<std::string> lines = lines_of(outcome.run.*stream);
    if (std::ranges::find(lines, expand(text, outcome.variables)) != lines.end()) return kAllIsWell;
    return "no such line";
  };
}

Check expect_match(Stream stream, const std::string& text) {
  const std::regex pattern = regular_expression(text);
  return [=](const Outcome& outcome) -> Got {
    const std::vector<std::string> lines = lines_of(outcome.run.*stream);
    const auto matches = [&](const std::string& line) { return std::regex_search(line, pattern); };
    return std::ranges::any_of(lines, matches) ? Got() : "no line that matches";
  };
}

Check expect_lines(Stream stream, const std::string& count) {
  return [stream, expected = integer(count)](const Outcome& outcome) -> Got {
    const auto lines = static_cast<int>(lines_of(outcome.run.*stream).size());
    return lines == expected ? Got() : std::to_string(lines) + " lines";
  };
}

Check expect_empty(Stream stream) {
  return [=](const Outcome& outcome) { return (outcome.run.*stream).empty() ? Got() : "something"; };
}

// stdout|stderr has|lacks|line TEXT, matches REGEX, lines COUNT, empty, any
Check stream_check(Stream stream, const std::string& rest) {
  const auto [word, text] = split_word(rest);
  if (word == "has") return expect_part(stream, text, true);
  if (word == "lacks") return expect_part(stream, text, false);
  if (word == "line") return expect_line(stream, text);
  if (word == "matches") return expect_match(stream, text);
  if (word == "lines") return expect_lines(stream, text);
  if (rest == "empty") return expect_empty(stream);
  if (rest == "any") return [](const Outcome&) { return Got(); };
  throw std::invalid_argument("expected has, lacks, line, matches, lines, empty or any, got \"" + word +
                              "\"");
}

Check on_stdout(const std::string& rest) {
  return stream_check(&ProgramRun::out, rest);
}

Check on_stderr(const std::string& rest) {
  return stream_check(&ProgramRun::err, rest);
}

// exists|missing NAME...
Check expect_files(const std::string& rest, bool wanted) {
  const std::vector<std::string> names = words_of(rest);
  if (names.empty()) throw std::invalid_argument("which file?");
  return [=](const Outcome& outcome) -> Got {
    for (const std::string& name : names) {
      const bool there = std::filesystem::exists(outcome.directory / expand(name, outcome.variables));
      if (there != wanted) return wanted ? "no " + name : name + " is there";
    }
    return kAllIsWell;
  };
}

Check existing(const std::string& rest) {
  return expect_files(rest, true);
}

Check absent(const std::string& rest) {
  return expect_files(rest, false);
}

struct Maker {
  const char* word;
  Check (*make)(const std::string& rest);
};

constexpr Maker kMakers[] = {
    {"exit", exit_code},      {"refused", refusal},        {"stdout", on_stdout},
    {"stderr", on_stderr},    {"exists", existing},        {"missing", absent},
    {"json", check_one_json}, {"jsonl", check_json_lines}, {"save", save_value},
};

const Maker* find_maker(const std::string& word) {
  const auto* maker = std::ranges::find_if(kMakers, [&](const Maker& each) { return each.word == word; });
  return maker == std::end(kMakers) ? nullptr : maker;
}

}  // namespace

bool is_check(const std::string& word) {
  return find_maker(word) != nullptr;
}

std::string names_of_checks() {
  std::string names;
  for (const Maker& maker : kMakers) names += (names.empty() ? "" : ", ") + std::string(maker.word);
  return names;
}

Check make_check(const std::string& word, const std::string& rest) {
  const Maker* maker = find_maker(word);
  if (maker == nullptr) throw std::invalid_argument("unknown word \"" + word + "\"");
  return maker->make(rest);
}

Check expect_exactly(const std::string& mark, const std::string& lines) {
  const Stream stream = mark == ">" ? &ProgramRun::out : &ProgramRun::err;
  return [=](const Outcome& outcome) -> Got {
    const std::string expected = expand(lines, outcome.variables);
    if (outcome.run.*stream == expected) return kAllIsWell;
    const std::vector<std::string> got = lines_of(outcome.run.*stream), wanted = lines_of(expected);
    const auto [first, other] = std::ranges::mismatch(got, wanted);
    const std::string number = "line " + std::to_string(first - got.begin() + 1);
    if (first == got.end() && other == wanted.end()) return "no end of line at the end";
    if (first == got.end()) return "the end, instead of " + number + " \"" + *other + "\"";
    return number + " \"" + *first + "\"" + (other == wanted.end() ? ", which is one too many" : "");
  };
}

std::string expand(const std::string& text, const Variables& variables) {
  const auto is_name = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  std::string expanded;
  for (size_t i = 0; i < text.size();) {
    const size_t end = static_cast<size_t>(
        std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(i) + 1, text.end(), is_name) -
        text.begin());
    if (text[i] != '$' || end == i + 1) {
      expanded += text[i++];
      continue;
    }
    const std::string name = text.substr(i + 1, end - i - 1);
    if (!variables.contains(name)) throw std::invalid_argument("there is no variable $" + name);
    expanded += variables.at(name);
    i = end;
  }
  return expanded;
}

}  // namespace sluice::test
