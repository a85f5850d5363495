// Finds out that a rank is lost: killed, stopped, or on a host that does not answer. A thread sends a sign of
// life to the next rank every second and expects one from the one before, whatever the training does. MPI
// alone would wait for ever.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sluice {

// A process as the others of its host can look for it.
struct RankProcess {
  std::string host;
  std::string process_space;  // processes are numbered anew in each container
  int64_t process = 0;
};

class Heartbeat {
 public:
  // Far longer than a busy machine keeps a thread waiting, and short enough that a lost rank ends the run in
  // 30 seconds.
  static constexpr auto kDeadline = std::chrono::seconds(15);

  struct Group {
    MPI_Comm communicator;  // of its own
    std::mutex& mpi;        // held for every call of MPI
    int rank, size;
    std::vector<RankProcess> processes;
  };

  // `lost` is called at most once, on the thread of the heartbeat, by one of the ranks that are left.
  Heartbeat(Group group, std::function<void(int rank, const std::string& how)> lost);
  ~Heartbeat();

 private:
  using Clock = std::chrono::steady_clock;

  void beat();
  void send_sign(Clock::time_point now);
  void hear_sign(Clock::time_point now);
  // A rank of this host whose process is gone; -1: none.
  int gone_rank() const;
  bool is_first_left(int gone) const;

  Group group_;
  std::function<void(int, const std::string&)> lost_;
  MPI_Request send_ = MPI_REQUEST_NULL, receive_ = MPI_REQUEST_NULL;
  char sent_ = 0, received_ = 0;
  Clock::time_point last_sent_, last_heard_;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

}  // namespace sluice
