#include <iostream>
#include <vector>

#include "sluice/base/interrupt.h"
#include "sluice/cli/program.h"

int main(int argc, char** argv) {
  sluice::watch_interrupts();
  return sluice::cli::run({argv + 1, argv + argc}, std::cout, std::cerr);
}
