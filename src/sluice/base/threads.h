// Parallel loops on threads of our own (base/worker_pool.h). Results never depend on the number of threads as
// long as each piece of work writes its own outputs: loops split outputs, never sums.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace sluice {

// Half-open interval of indices.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
};

class WorkerPool;

// A copy shares the threads. They start with the first loop that needs them and sleep between loops. Loops
// may be run inside a loop, and by several callers at the same time.
class Threads {
 public:
  // 0 means one thread per core that this process may use.
  explicit Threads(int count = 0);

  int count() const { return count_; }

  // Cuts [0, n) into contiguous ranges of at least `grain` indices, a few per thread where there are enough,
  // and calls body for each. For many small items of equal cost.
  void split(int64_t n, int64_t grain, const std::function<void(Range)>& body) const;

  // Calls body(0) … body(n - 1), each exactly once, handed out one at a time. For few items of unequal cost.
  void each(int64_t n, const std::function<void(int64_t)>& body) const;

  // An exception thrown by body ends the loop and is thrown again by the calls above.

 private:
  int count_;
  std::shared_ptr<WorkerPool> pool_;  // none: one thread, the caller's
};

// Cores in this process's affinity mask, which is what a container or `taskset` grants.
int usable_cores();

}  // namespace sluice
