// What `sluice help` tells, read back.
#pragma once

#include <string>
#include <vector>

namespace sluice::test {

// Names of all commands, in the order of the help.
std::vector<std::string> commands_in_help();

struct HelpPage {
  std::vector<std::string> arguments;  // "SHELL"
  std::vector<std::string> options;    // "--threads N"
};

HelpPage help_page(const std::string& command);

// "--threads" of "--threads N"
std::string name_of_option(const std::string& signature);

}  // namespace sluice::test
