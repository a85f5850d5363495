// Time that passes, whatever happens to the clock on the wall.
#pragma once

#include <chrono>
#include <utility>

namespace sluice {

class Stopwatch {
 public:
  // Since it was made, or since the last lap.
  double seconds() const { return between(start_, Clock::now()); }

  // The same, and begins anew.
  double lap() {
    const Clock::time_point now = Clock::now();
    return between(std::exchange(start_, now), now);
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double between(Clock::time_point start, Clock::time_point end) {
    return std::chrono::duration<double>(end - start).count();
  }

  Clock::time_point start_ = Clock::now();
};

template <class Work>
double seconds_of(const Work& work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

}  // namespace sluice
