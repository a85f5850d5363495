// Reads a file of command-line tests. tests/commands/README.md tells what may be in one.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "tests/commands/runner/command_case.h"

namespace sluice::test {

// "eval.test:12: what is wrong"
class MalformedCases : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::vector<Case> read_cases(const std::filesystem::path& file);

// The same of a text; the name is for messages.
std::vector<Case> parse_cases(std::string_view text, const std::string& name);

}  // namespace sluice::test
