#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string_view>
#include <vector>

#include "sluice/base/interrupt.h"
#include "sluice/cli/program.h"

namespace {

const std::terminate_handler usual_end = std::get_terminate();

// Where even an error cannot be told in the usual way, for want of memory: without a word of our own the line
// would be the runtime's, and MPI's with a trace of addresses.
[[noreturn]] void end_without_memory() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kLine = "sluice: error: out of memory\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kLine.data(), kLine.size());
    std::_Exit(1);
  } catch (...) {
    usual_end();
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_without_memory);
  sluice::watch_interrupts();
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the user's limit is an error with its name, not the end
  return sluice::cli::run({argv + 1, argv + argc}, std::cout, std::cerr);
}
