#include "sluice/base/worker_pool.h"

#include <pthread.h>

#include <algorithm>
#include <system_error>

#include "sluice/base/error.h"
#include "sluice/base/threads.h"

namespace sluice {
namespace {

// How long a thread looks for a change before it sleeps. Waking a sleeper takes 5 to 40 microseconds (the
// latter on a virtual machine), more than lies between two loops of a small model; who looks for about as
// long as that loses at most as much again. Longer would take the core from whoever else needs it.
constexpr std::chrono::microseconds kPatience{40};
constexpr int kLooksPerClock = 64;  // one to three microseconds: reading the clock may cost half of one

void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

bool changes_within_looks(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < kLooksPerClock; ++i) {
    if (value.load(std::memory_order_acquire) != old) return true;
    pause_core();
  }
  return false;
}

bool changes_soon(const std::atomic<uint32_t>& value, uint32_t old, std::chrono::microseconds patience) {
  if (changes_within_looks(value, old)) return true;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < end) {
    if (changes_within_looks(value, old)) return true;
  }
  return false;
}

// Returns when `value` is not `old` any more.
void wait_while(const std::atomic<uint32_t>& value, uint32_t old, std::chrono::microseconds patience) {
  if (!changes_soon(value, old, patience)) value.wait(old, std::memory_order_acquire);
}

// A child process has the memory of its parent, but not the threads. Process-wide because fork is.
std::atomic<uint32_t> forks = 0;

uint32_t forks_so_far() {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  return forks.load(std::memory_order_relaxed);
}

}  // namespace

Loop::Loop(int64_t pieces, int shares, const std::function<void(int64_t)>& body)
    : body_(body),
      share_count_(static_cast<int>(std::clamp<int64_t>(pieces, 1, std::min(shares, kMaxShares)))) {
  for (int s = 0; s < share_count_; ++s) {
    shares_[s].next.store(pieces * s / share_count_, std::memory_order_relaxed);
    shares_[s].end = pieces * (s + 1) / share_count_;
  }
}

void Loop::work(int home, int homes) {
  const auto first = static_cast<int>(int64_t{home} * share_count_ / homes);
  for (int s = 0; s < share_count_; ++s) {
    if (!work_on(shares_[(first + s) % share_count_])) return;
  }
}

// Whether to go on: not after an exception.
bool Loop::work_on(Share& share) {
  while (!thrown_.load(std::memory_order_relaxed)) {
    if (share.next.load(std::memory_order_relaxed) >= share.end) return true;
    const int64_t piece = share.next.fetch_add(1, std::memory_order_relaxed);
    if (piece >= share.end) return true;
    try {
      body_(piece);
    } catch (...) {
      if (!thrown_.exchange(true)) exception_ = std::current_exception();
    }
  }
  return false;
}

bool Loop::has_work() const {
  const auto open = [](const Share& share) { return share.next.load(std::memory_order_relaxed) < share.end; };
  return !thrown_.load(std::memory_order_relaxed) &&
         std::any_of(shares_.begin(), shares_.begin() + share_count_, open);
}

void Loop::rethrow() const {
  if (exception_) std::rethrow_exception(exception_);
}

// Threads that have to share cores gain nothing by looking again: the one they wait for may need their core.
WorkerPool::WorkerPool(int workers)
    : workers_(workers), patience_(workers < usable_cores() ? kPatience : std::chrono::microseconds{0}) {}

WorkerPool::~WorkerPool() {
  // In a child process there is nobody to wait for, and a std::thread may only be joined or left behind.
  if (left_behind()) {
    for (std::thread& thread : threads_) thread.detach();
    return;
  }
  stopping_ = true;
  published_.fetch_add(1);
  published_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::left_behind() const {
  return started_.load(std::memory_order_acquire) && forks_at_start_ != forks_so_far();
}

void WorkerPool::run(Loop& loop) {
  start_once();
  Place* place = left_behind() ? nullptr : take_place();
  if (place == nullptr) return loop.work(0, 1);
  place->loop.store(&loop);
  published_.fetch_add(1);
  wake_some();
  loop.work(0, workers_ + 1);
  place->loop.store(nullptr);
  wait_until_left(*place);
  place->taken.store(false, std::memory_order_release);
}

void WorkerPool::start_once() {
  if (started_.load(std::memory_order_acquire)) return;
  const std::scoped_lock lock(start_mutex_);
  if (started_.load(std::memory_order_relaxed)) return;
  forks_at_start_ = forks_so_far();
  try {
    while (std::ssize(threads_) < workers_)
      threads_.emplace_back([this, worker = static_cast<int>(threads_.size()) + 1] { serve(worker); });
  } catch (const std::system_error& error) {
    throw failure({.what = "cannot start a thread",
                   .expected = std::to_string(workers_ + 1) + " threads",
                   .got = error.code().message(),
                   .hint = "fewer with --threads"});
  }
  started_.store(true, std::memory_order_release);
}

WorkerPool::Place* WorkerPool::take_place() {
  for (Place& place : places_) {
    if (!place.taken.load(std::memory_order_relaxed) &&
        !place.taken.exchange(true, std::memory_order_acquire))
      return &place;
  }
  return nullptr;
}

// Each thread that is awake wakes two more, so that on a machine with many cores the caller need not wake
// them all.
void WorkerPool::wake_some() {
  for (int i = 0; i < std::min(workers_, 2); ++i) published_.notify_one();
}

void WorkerPool::serve(int worker) {
  while (true) {
    // In this order: whoever stops the pool counts up afterwards, so a wait for another count ends.
    const uint32_t seen = published_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_acquire)) return;
    bool helped = false;
    for (Place& place : places_) helped |= help(place, worker);
    if (!helped) wait_while(published_, seen, patience_);
  }
}

// Whether there was something to do.
bool WorkerPool::help(Place& place, int worker) {
  if (place.loop.load(std::memory_order_relaxed) == nullptr) return false;
  place.inside.fetch_add(1);
  Loop* loop = place.loop.load();
  const bool useful = loop != nullptr && loop->has_work();
  if (useful) {
    wake_some();
    loop->work(worker, workers_ + 1);
  }
  place.inside.fetch_sub(1);
  place.inside.notify_all();
  return useful;
}

void WorkerPool::wait_until_left(const Place& place) const {
  for (uint32_t inside = place.inside.load(); inside != 0; inside = place.inside.load())
    wait_while(place.inside, inside, patience_);
}

}  // namespace sluice
