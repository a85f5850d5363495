// Checks of values in a command's JSON: json PATH OPERATION [VALUE].
#pragma once

#include <regex>
#include <string>

#include "tests/commands/runner/command_case.h"

namespace sluice::test {

Check check_one_json(const std::string& rest);    // stdout is one JSON value
Check check_json_lines(const std::string& rest);  // stdout has one per line; they are taken as an array
Check save_value(const std::string& rest);        // save NAME PATH: $NAME is that value from here on

// Throws std::invalid_argument if it is none.
std::regex regular_expression(const std::string& text);

}  // namespace sluice::test
