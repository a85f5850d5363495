// Commands with several actions, of which each takes some of the command's options.
#pragma once

#include <initializer_list>
#include <string>

#include "sluice/base/error.h"

namespace sluice::cli {

struct ActionOption {
  const char* name;    // "--kind"
  bool given;          // on the command line
  const char* action;  // the one that takes it
};

// Usage error for an option that belongs to another action.
void check_action(const std::string& command, const std::string& action,
                  std::initializer_list<ActionOption> options);

// The usage error of a command, with a pointer to its help.
Error wrong_use(const std::string& command, std::string what);

}  // namespace sluice::cli
