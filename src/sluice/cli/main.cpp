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

const std::terminate_handler previous_handler = std::get_terminate();

thread_local bool memory_ran_out = false;

void note_no_memory() {
  memory_ran_out = true;
  throw std::bad_alloc();
}

bool is_for_want_of_memory(const std::exception_ptr& cause) {
  // g++ before 14 does not tell what left a noexcept function.
  if (!cause) return memory_ran_out;
  try {
    std::rethrow_exception(cause);
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

// Where even an error cannot be told in the usual way, for want of memory: without a word of our own the line
// would be the runtime's, and MPI's with a trace of addresses.
[[noreturn]] void on_terminate() {
  if (is_for_want_of_memory(std::current_exception())) {
    constexpr std::string_view kLine = "sluice: error: out of memory\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kLine.data(), kLine.size());
    std::_Exit(1);
  }
  previous_handler();
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(note_no_memory);
  std::set_terminate(on_terminate);
  sluice::watch_interrupts();
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the user's limit is an error with its name, not the end
  const int exit_code = sluice::cli::run({argv + 1, argv + argc}, std::cout, std::cerr);
  if (exit_code == 0) return 0;
  // Not by way of the libraries' own ends: where there is no memory, OpenBLAS waits for ever for threads that
  // it began itself.
  std::cout.flush();
  std::cerr.flush();
  std::_Exit(exit_code);
}
