// How the caller of a long job follows it and stops it. Every use case of the library takes one; by default
// nothing is shown and nothing stops it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "sluice/base/error.h"
#include "sluice/base/log.h"

namespace sluice {

struct ProgressUpdate {
  std::string_view unit;  // what is counted: "chunks"
  int64_t done = 0;
  int64_t total = 0;  // 0: not known
};

struct JobControl {
  // Called on the thread that runs the job.
  std::function<void(const ProgressUpdate&)> progress = {};
  // Asked wherever the job can stop cleanly.
  std::function<bool()> cancelled = {};
  Log* log = nullptr;  // warnings and remarks; none: they are dropped

  void report(std::string_view unit, int64_t done, int64_t total) const {
    if (progress) progress({.unit = unit, .done = done, .total = total});
  }

  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    if (log != nullptr) log->info(format, std::forward<Args>(args)...);
  }

  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) const {
    if (log != nullptr) log->warn(format, std::forward<Args>(args)...);
  }

  bool is_cancelled() const { return cancelled && cancelled(); }

  // Throws an Error of kind Interrupted if the job is to stop.
  void stop_if_cancelled() const {
    if (is_cancelled()) throw Error(ErrorKind::Interrupted, {.what = "interrupted"});
  }
};

}  // namespace sluice
