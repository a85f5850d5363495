#include <iostream>
#include <vector>

#include "sluice/cli/program.h"

int main(int argc, char** argv) {
  return sluice::cli::run({argv + 1, argv + argc}, std::cout, std::cerr);
}
