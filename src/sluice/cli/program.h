// The program as a function: arguments in, exit code out.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace sluice::cli {

// Results go to `out`, everything else to `messages`. Never throws.
int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& messages);

}  // namespace sluice::cli
