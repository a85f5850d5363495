// The threads behind Threads. They sleep until a loop is published, help the caller with it and sleep again;
// they never keep a core that somebody else could use for more than some microseconds.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sluice {

// One object per line of the cache: 64 bytes on the processors there are kernels for.
constexpr std::size_t kCacheLine = 64;

// The pieces 0 … n - 1 of one call, handed out one at a time, each exactly once.
class Loop {
 public:
  // A share is a contiguous part of the pieces that some threads begin with before they help the others. One
  // share: strictly in order. One per thread: a thread meets the same part of the same arrays in one loop
  // after the other.
  Loop(int64_t pieces, int shares, const std::function<void(int64_t)>& body);

  // Works until there is nothing left to take. `home` in [0, homes) names the thread.
  void work(int home, int homes);

  bool has_work() const;
  // Throws what a piece has thrown. For the caller, when nobody else is at work any more.
  void rethrow() const;

 private:
  static constexpr int kMaxShares = 16;  // more threads than that double up; the object stays on the stack

  struct alignas(kCacheLine) Share {
    std::atomic<int64_t> next;
    int64_t end;
  };

  bool work_on(Share& share);

  const std::function<void(int64_t)>& body_;
  int share_count_;
  std::atomic<bool> thrown_ = false;
  std::exception_ptr exception_;
  std::array<Share, kMaxShares> shares_;
};

class WorkerPool {
 public:
  // Starts nothing yet: the first loop does.
  explicit WorkerPool(int workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs a loop on the calling thread and on those workers that come in time. It returns as soon as every
  // piece is done, whether all workers have woken up by then or not.
  void run(Loop& loop);

 private:
  // Where a caller shows its loop. A worker says that it is inside before it looks, so a caller that has
  // taken its loop away and then sees nobody inside may destroy it.
  struct alignas(kCacheLine) Place {
    std::atomic<bool> taken = false;
    std::atomic<Loop*> loop = nullptr;
    std::atomic<uint32_t> inside = 0;
  };

  // Callers at the same time that get help; a further one, or a loop deep inside others, works alone.
  static constexpr int kPlaces = 8;

  void start_once();
  bool left_behind() const;  // in a child process, without the threads
  void serve(int worker);
  bool help(Place& place, int worker);
  void wake_some();
  Place* take_place();
  void wait_until_left(const Place& place) const;

  int workers_;
  std::chrono::microseconds patience_;
  std::array<Place, kPlaces> places_;
  alignas(kCacheLine) std::atomic<uint32_t> published_ = 0;  // counts loops; workers sleep on it
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> started_ = false;
  uint32_t forks_at_start_ = 0;
  std::mutex start_mutex_;
  std::vector<std::thread> threads_;
};

}  // namespace sluice
