// Progress of a long command, on stderr: a line that rewrites itself on a terminal, a plain line now and then
// elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "sluice/base/log.h"

namespace sluice::cli {

class Progress {
 public:
  // `unit` is counted by done(): "chunks".
  Progress(Log& log, std::string unit, int64_t total);
  ~Progress();

  // Throws if the user wants to stop.
  void done(int64_t count);

 private:
  void show();

  using Clock = std::chrono::steady_clock;
  Log& log_;
  std::string unit_;
  int64_t total_, done_ = 0;
  bool terminal_;
  Clock::time_point start_ = Clock::now(), shown_ = start_;
};

}  // namespace sluice::cli
