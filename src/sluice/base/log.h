// Messages to the person at the terminal: one line each, on stderr, never on stdout. Results are not
// messages.
#pragma once

#include <fmt/core.h>

#include <iosfwd>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

enum class LogLevel { Quiet, Normal, Verbose };  // Quiet: errors only; Verbose: debug messages too

// May be used from several threads at once; lines never mix.
class Log {
 public:
  explicit Log(LogLevel level = LogLevel::Normal);  // to stderr
  Log(LogLevel level, std::ostream& out) : level_(level), out_(out) {}

  LogLevel level() const { return level_; }

  template <typename... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) {
    print("error: ", fmt::format(format, std::forward<Args>(args)...));
  }

  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    if (level_ >= LogLevel::Normal) print("warning: ", fmt::format(format, std::forward<Args>(args)...));
  }

  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) {
    if (level_ >= LogLevel::Normal) print("", fmt::format(format, std::forward<Args>(args)...));
  }

  template <typename... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) {
    if (level_ >= LogLevel::Verbose) print("", fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void print(std::string_view prefix, std::string message);

  LogLevel level_;
  std::ostream& out_;
  std::mutex mutex_;
};

}  // namespace sluice
