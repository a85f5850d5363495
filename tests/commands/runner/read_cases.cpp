#include "tests/commands/runner/read_cases.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/commands/runner/check.h"
#include "tests/commands/runner/words.h"

namespace sluice::test {
namespace {

// A step and what it is not yet known to say about itself.
struct OpenStep {
  Step step;
  bool tells_exit_code = false;
  bool tells_stderr = false;
};

class Reader {
 public:
  Reader(std::string_view text, std::string name) : lines_(std::string(text)), name_(std::move(name)) {}

  std::vector<Case> read() {
    while (next()) {
      if (line_.empty() || line_.starts_with('#')) continue;
      read_line();
    }
    close_case();
    if (cases_.empty()) fail("no case in this file: one begins with \"=== what it shows\"");
    return cases_;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw MalformedCases(name_ + ":" + std::to_string(number_) + ": " + problem);
  }

  bool next() {
    if (!std::getline(lines_, line_)) return false;
    ++number_;
    return true;
  }

  bool next_starts_with(std::string_view start) {
    const auto here = lines_.tellg();
    std::string line;
    const bool does = std::getline(lines_, line) && line.starts_with(start);
    lines_.clear();
    lines_.seekg(here);
    return does;
  }

  void read_line() {
    const auto [word, rest] = split_word(line_);
    if (word == "===") return begin_case(rest);
    if (!current_) fail("expected \"=== title\" before anything else");
    if (word == "slow" || word == "needs") return add_property(word, rest);
    if (word == "file") return add_file(rest);
    if (word == "$") return add_command(rest);
    add_check(word, rest);
  }

  void begin_case(const std::string& title) {
    close_case();
    if (title.empty()) fail("the case has no title");
    if (!std::ranges::all_of(cases_, [&](const Case& other) { return other.title != title; }))
      fail("there is a case \"" + title + "\" already");
    if (title == "setup" && (!cases_.empty() || !setup_.empty())) fail("setup comes first, and once");
    current_ = Case{.line = number_, .title = title};
    if (title != "setup") current_->steps = setup_;
  }

  void add_property(const std::string& word, const std::string& rest) {
    if (step_) fail("\"" + word + "\" belongs to the title: before the first step");
    if (word == "slow") {
      if (!rest.empty()) fail("expected nothing behind \"slow\"");
      current_->slow = true;
    } else {
      current_->needed = words_of(rest);
      if (current_->needed.empty()) fail("needs what?");
    }
  }

  void add_file(const std::string& name) {
    close_step();
    if (name.empty()) fail("the file has no name");
    const int first = number_;
    step_ = OpenStep{.step = {.line = first, .file = InputFile{name, marked_lines("|")}}};
  }

  void add_command(std::string command) {
    close_step();
    if (command.empty()) fail("no command behind \"$\"");
    const int first = number_;
    while (command.ends_with('\\')) {
      if (!next()) fail("the file ends within a command");
      command += "\n" + line_;
    }
    step_ = OpenStep{.step = {.line = first, .command = command}};
  }

  void add_check(const std::string& word, const std::string& rest) {
    const bool transcript = word == ">" || word == "2>";
    if (!transcript && !is_check(word)) {
      fail("unknown word \"" + word + "\": expected one of ===, slow, needs, file, $, >, 2>, " +
           names_of_checks());
    }
    if (!step_ || step_->step.file) fail("\"" + word + "\" is about a command: expected \"$ …\" before it");
    if (word == "exit" || word == "refused") step_->tells_exit_code = true;
    if (word == "stderr" || word == "2>" || word == "refused") step_->tells_stderr = true;
    const int first = number_;
    try {
      Check check =
          transcript ? expect_exactly(word, rest + "\n" + marked_lines(word)) : make_check(word, rest);
      step_->step.checks.push_back({first, word + (rest.empty() ? "" : " " + rest), std::move(check)});
    } catch (const std::invalid_argument& error) {
      fail(error.what());
    }
  }

  // The lines that follow with this mark, without it.
  std::string marked_lines(const std::string& mark) {
    std::string content;
    while (next_starts_with(mark) && next()) {
      const auto [word, rest] = split_word(line_);
      if (word != mark) fail("expected a space behind \"" + mark + "\"");
      content += rest + "\n";
    }
    return content;
  }

  // What a command does not tell is expected to be: success, and silence on stderr.
  void close_step() {
    if (!step_) return;
    const auto add = [&](const std::string& word, const std::string& rest) {
      auto& checks = step_->step.checks;
      checks.insert(checks.begin(), {step_->step.line, word + " " + rest, make_check(word, rest)});
    };
    if (!step_->step.file && !step_->tells_stderr) add("stderr", "empty");
    if (!step_->step.file && !step_->tells_exit_code) add("exit", "0");
    current_->steps.push_back(std::move(step_->step));
    step_.reset();
  }

  void close_case() {
    if (!current_) return;
    close_step();
    if (current_->title == "setup") {
      setup_ = current_->steps;
    } else {
      const bool runs = std::ranges::any_of(
          current_->steps, [&](const Step& step) { return !step.file && step.line > current_->line; });
      if (!runs) fail("the case \"" + current_->title + "\" has no command");
      cases_.push_back(*current_);
    }
    current_.reset();
  }

  std::istringstream lines_;
  std::string name_, line_;
  int number_ = 0;
  std::vector<Case> cases_;
  std::vector<Step> setup_;
  std::optional<Case> current_;
  std::optional<OpenStep> step_;
};

}  // namespace

std::vector<Case> parse_cases(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

std::vector<Case> read_cases(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw MalformedCases(path.string() + ": cannot open");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_cases(text, path.string());
}

}  // namespace sluice::test
