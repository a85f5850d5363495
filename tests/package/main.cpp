// Uses the installed library the way another project would.
#include <cstdio>

#include "sluice/base/error.h"

int main() {
  const sluice::Error error = sluice::bad_input({.where = "sample", .what = "works"});
  std::puts(error.what());
  return error.exit_code() == 3 ? 0 : 1;
}
