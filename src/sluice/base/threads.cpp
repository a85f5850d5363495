#include "sluice/base/threads.h"

#include <sched.h>

#include <algorithm>
#include <thread>

#include "sluice/base/assert.h"
#include "sluice/base/worker_pool.h"

namespace sluice {
namespace {

// Ranges per thread of `split`. When the system holds a thread up, the others take what it has not begun: at
// most an eighth of the work waits for it on two threads.
constexpr int64_t kRangesPerThread = 4;

int64_t ranges_of(int64_t n, int64_t grain, int threads) {
  const int64_t most = std::clamp<int64_t>(n / std::max<int64_t>(grain, 1), 1, threads * kRangesPerThread);
  // As many for each thread: an odd one would keep all others waiting.
  return most < threads ? most : most / threads * threads;
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

Threads::Threads(int count) : count_(count == 0 ? usable_cores() : count) {
  SLUICE_ASSERT(count >= 0, "Threads: count is {}", count);
  if (count_ > 1) pool_ = std::make_shared<WorkerPool>(count_ - 1);
}

void Threads::split(int64_t n, int64_t grain, const std::function<void(Range)>& body) const {
  if (n <= 0) return;
  const int64_t ranges = ranges_of(n, grain, count_);
  if (count_ == 1 || ranges == 1) return body({0, n});
  const std::function<void(int64_t)> run = [&](int64_t i) { body({n * i / ranges, n * (i + 1) / ranges}); };
  Loop loop(ranges, count_, run);
  pool_->run(loop);
  loop.rethrow();
}

void Threads::each(int64_t n, const std::function<void(int64_t)>& body) const {
  if (count_ == 1 || n <= 1) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  Loop loop(n, 1, body);
  pool_->run(loop);
  loop.rethrow();
}

}  // namespace sluice
