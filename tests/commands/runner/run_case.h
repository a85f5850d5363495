// Runs a case in a directory of its own and tells the first command that is not as expected.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "tests/commands/runner/command_case.h"

namespace sluice::test {

struct Failure {
  int line;
  std::string message;  // the command, expected and got, what it printed
};

struct CaseOptions {
  Variables variables = {};  // seen by commands, too. $TMP is added: the directory of the case
  std::string path = {};     // of programs, before that of the environment
  std::chrono::milliseconds time_limit = std::chrono::minutes(4);
};

// Every check of the first command that fails one; what follows would only repeat the failure.
std::vector<Failure> run_case(const Case& test, const CaseOptions& options);

}  // namespace sluice::test
