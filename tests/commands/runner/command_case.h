// A case of a command-line test: steps in a directory of its own, and what must be seen after each command.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/cli/run_program.h"

namespace sluice::test {

using Variables = std::map<std::string, std::string>;

// What a check looks at. A check may add a variable for the lines that follow it (`save`).
struct Outcome {
  const ProgramRun& run;
  const std::filesystem::path& directory;
  Variables& variables;
};

// What there is instead of what is expected; nothing if all is well.
using Check = std::function<std::optional<std::string>(const Outcome&)>;

struct CheckLine {
  int line;
  std::string text;  // as written in the file
  Check check;
};

struct InputFile {
  std::string name;
  std::string content;
};

// A command, or a file to write if there is one.
struct Step {
  int line;
  std::string command = {};  // for bash
  std::optional<InputFile> file = {};
  std::vector<CheckLine> checks = {};
};

struct Case {
  int line;
  std::string title;
  bool slow = false;
  std::vector<std::string> needed = {};
  std::vector<Step> steps = {};  // those of the file's set-up first
};

}  // namespace sluice::test
