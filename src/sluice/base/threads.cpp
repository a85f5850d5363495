#include "sluice/base/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

// OpenMP ends the program if an exception leaves a parallel region; this carries the first one out of it.
class FirstException {
 public:
  template <class Body>
  void guard(const Body& body) {
    if (caught_.load(std::memory_order_relaxed)) return;
    try {
      body();
    } catch (...) {
      if (!caught_.exchange(true)) exception_ = std::current_exception();
    }
  }

  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::atomic<bool> caught_ = false;
  std::exception_ptr exception_;
};

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

Threads::Threads(int count) : count_(count == 0 ? usable_cores() : count) {
  SLUICE_ASSERT(count >= 0, "Threads: count is {}", count);
}

void Threads::split(int64_t n, int64_t grain, const std::function<void(Range)>& body) const {
  if (n <= 0) return;
  const int64_t pieces = std::clamp<int64_t>(n / std::max<int64_t>(grain, 1), 1, count_);
  if (pieces == 1) return body({0, n});
  FirstException first;
  const int team = static_cast<int>(pieces);
#pragma omp parallel for num_threads(team) schedule(static, 1)
  for (int64_t i = 0; i < pieces; ++i) {
    first.guard([&] { body({n * i / pieces, n * (i + 1) / pieces}); });
  }
  first.rethrow();
}

void Threads::each(int64_t n, const std::function<void(int64_t)>& body) const {
  if (count_ == 1 || n <= 1) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  FirstException first;
  const int team = static_cast<int>(std::min<int64_t>(count_, n));
#pragma omp parallel for num_threads(team) schedule(dynamic, 1)
  for (int64_t i = 0; i < n; ++i) {
    first.guard([&] { body(i); });
  }
  first.rethrow();
}

}  // namespace sluice
