// Assertions: a failed one is a mistake in the calling code, never in a user's input. They stay on in release
// builds, and throw instead of aborting so that an embedding program can save its work.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace sluice {

class AssertionError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   const std::string& message);

}  // namespace sluice

// The message starts with the operation: SLUICE_ASSERT(k == w.cols(), "linear: x has {} columns, w {}", ...).
// It is formatted only when the condition fails.
#define SLUICE_ASSERT(condition, ...)                                                         \
  do {                                                                                        \
    if (!(condition)) [[unlikely]]                                                            \
      ::sluice::assertion_failed(#condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
  } while (false)
