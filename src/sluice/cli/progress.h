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
  // `unit` is counted by done(): "chunks". A total of 0 is one that nobody knows.
  Progress(Log& log, std::string unit, int64_t total);
  ~Progress();

  void done(int64_t count) { reach(done_ + count); }

  // The same, told as how many there are so far.
  void reach(int64_t done);

  // Whether the next call of done() will show something: a note for it is worth making.
  bool will_show() const;

  // Shown behind the rest from now on.
  void note(std::string text) { note_ = std::move(text); }

 private:
  void show();
  std::string text() const;

  using Clock = std::chrono::steady_clock;
  Log& log_;
  std::string unit_, note_;
  int64_t total_, done_ = 0;
  bool terminal_;
  Clock::time_point start_ = Clock::now(), shown_ = start_;
};

}  // namespace sluice::cli
