// What can be expected of a command: its exit code, its output, the files it left, values in its JSON.
#pragma once

#include <string>

#include "tests/commands/runner/command_case.h"

namespace sluice::test {

bool is_check(const std::string& word);
std::string names_of_checks();

// The check of a line "word rest". Throws std::invalid_argument if the rest makes no sense.
Check make_check(const std::string& word, const std::string& rest);

// That stdout (">") or stderr ("2>") consists of these lines.
Check expect_exactly(const std::string& mark, const std::string& lines);

// "$MODEL/x" → "/…/x". Names are of capital letters, digits and underscores; others stay as they are. Throws
// std::invalid_argument if there is no such variable.
std::string expand(const std::string& text, const Variables& variables);

}  // namespace sluice::test
