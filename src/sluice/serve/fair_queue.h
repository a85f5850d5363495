// Work that waits for the one thread that computes. Peers take turns, and so do the clients of each: who
// asked for much waits behind the first request of everybody else, and who takes many names shares one peer's
// turns among them. Safe to use from several threads.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/job_control.h"

namespace sluice::serve {

// A computation's turn: how it is followed and stopped, and how long it waited.
struct Turn {
  JobControl control = {};
  double waited_s = 0;
};

// Who it is fair to.
struct QueueClient {
  std::string peer;       // where it is: what it cannot choose
  std::string name = {};  // what it calls itself

  bool operator==(const QueueClient&) const = default;
};

struct QueuedWork {
  QueueClient client;
  std::string kind, model;  // for whoever asks
  std::function<void(const Turn&)> run = {};
};

struct QueueLimits {
  size_t waiting = 128;
  size_t waiting_of_peer = 64, waiting_of_client = 32;
  double seconds = 300;  // of one computation
};

struct RunningWork {
  uint64_t ticket = 0;
  QueueClient client;
  std::string kind, model;
  double seconds = 0;
  int64_t done = 0, total = 0;  // of whatever the computation counts
};

struct WaitingWork {
  uint64_t ticket = 0;
  QueueClient client;
  std::string kind, model;
  size_t place = 0;  // from 1, in the order of turns
  double waited_s = 0;
  std::optional<double> expected_s = {};  // none: nothing is known of what comes before it
};

struct QueueStatus {
  std::optional<RunningWork> running = {};
  std::vector<WaitingWork> waiting = {};  // in the order of turns
};

class FairQueue {
 public:
  explicit FairQueue(QueueLimits limits = {}) : limits_(limits) {}

  const QueueLimits& limits() const { return limits_; }

  // A ticket; none if too much waits already.
  std::optional<uint64_t> push(QueuedWork work);

  // It is not computed, or stops where it can. A ticket that is done already is no mistake.
  void cancel(uint64_t ticket);

  QueueStatus status() const;

  // Runs one piece of work if there is any; waits for it at most so long. False if there was none, or if
  // the queue is closed. `run` must not throw.
  bool run_next(std::chrono::milliseconds at_most);

  // Everything is cancelled, and nothing is taken any more.
  void close();

 private:
  using Clock = std::chrono::steady_clock;

  struct Entry {
    uint64_t ticket = 0;
    QueuedWork work;
    Clock::time_point since = Clock::now();
  };
  struct Running {
    Entry entry;
    Clock::time_point since = Clock::now();
    std::atomic<bool> cancelled = false;
    std::atomic<int64_t> done = 0, total = 0;
    std::atomic<Clock::time_point> counting_since = since;  // of `done`, which begins anew with every part
  };
  // The waiting work of one client, oldest first. Clients of a peer, and peers, stand in the order of their
  // turns.
  struct Line {
    std::string name;
    std::deque<Entry> entries = {};
  };
  struct Peer {
    std::string address;
    std::list<Line> lines = {};

    size_t waiting() const;
  };

  Entry take_entry();
  void remove_empty();
  std::shared_ptr<Running> take_next(std::chrono::milliseconds at_most);
  std::vector<const Entry*> in_order() const;
  std::optional<double> usual_seconds(const QueuedWork& work) const;
  std::optional<double> seconds_left(const Running& running) const;
  Turn turn_of(const std::shared_ptr<Running>& running) const;

  QueueLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::list<Peer> peers_;
  size_t waiting_ = 0;
  uint64_t last_ticket_ = 0;
  std::shared_ptr<Running> running_;
  // Of recent computations, by kind and model: a continuation may take a hundred times as long as a view.
  std::map<std::pair<std::string, std::string>, double> usual_seconds_;
  bool closed_ = false;
};

}  // namespace sluice::serve
