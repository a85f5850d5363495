#include <unistd.h>

#include <csignal>
#include <iostream>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/cli/program.h"

namespace {

// Nothing is half done when this ends the process: files appear under their names only when they are whole.
void end_interrupted(int) {
  _exit(static_cast<int>(sluice::ErrorKind::Interrupted));
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, end_interrupted);
  return sluice::cli::run({argv + 1, argv + argc}, std::cout, std::cerr);
}
