#include <csignal>
#include <iostream>
#include <vector>

#include "sluice/base/interrupt.h"
#include "sluice/cli/program.h"

int main(int argc, char** argv) {
  sluice::watch_interrupts();
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the user's limit is an error with its name, not the end
  return sluice::cli::run({argv + 1, argv + argc}, std::cout, std::cerr);
}
