// How a command runs a use case of the library: followed on stderr, stopped by Ctrl-C, its result on stdout.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/job_control.h"
#include "sluice/cli/command.h"

namespace sluice::cli {

// Shows progress until the last copy is gone: let that be before the result is printed.
JobControl job_control(const Session& session);

void print_json(const Session& session, const nlohmann::ordered_json& json);

// As JSON if the user asked for it, else as text for a person. The library has to_json() and to_text() beside
// each result.
template <class Result>
void print_result(const Session& session, const Result& result) {
  if (session.options.json) {
    print_json(session, to_json(result));
  } else {
    session.out << to_text(result);
  }
}

}  // namespace sluice::cli
