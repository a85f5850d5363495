#include "sluice/dist/mpi/heartbeat.h"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <system_error>

#include "sluice/base/error.h"

namespace sluice {
namespace {

constexpr auto kLook = std::chrono::milliseconds(100);
constexpr auto kSign = std::chrono::seconds(1);
constexpr int kSignTag = 1;

// Signals are for the thread that trains: threads that begin while this lives get none.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

Heartbeat::Heartbeat(Group group, std::function<void(int rank, const std::string& how)> lost)
    : group_(std::move(group)), lost_(std::move(lost)), last_sent_(), last_heard_(Clock::now()) {
  const NoSignals none;
  try {
    thread_ = std::thread([this] { beat(); });
  } catch (const std::system_error& error) {
    throw failure({.what = "cannot start a thread",
                   .got = error.code().message(),
                   .hint = "limits of memory (ulimit -v) or of processes (ulimit -u) are too low"});
  }
}

Heartbeat::~Heartbeat() {
  stops_ = true;
  thread_.join();
  const std::lock_guard lock(group_.mpi);
  for (MPI_Request* request : {&send_, &receive_}) {
    if (*request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(request);
    MPI_Request_free(request);
  }
}

void Heartbeat::send_sign(Clock::time_point now) {
  if (now - last_sent_ < kSign) return;
  int done = 1;
  if (send_ != MPI_REQUEST_NULL) MPI_Test(&send_, &done, MPI_STATUS_IGNORE);
  // A rank that takes nothing gets no more: the sign that is on its way will do.
  if (done == 0) return;
  MPI_Isend(&sent_, 1, MPI_CHAR, (group_.rank + 1) % group_.size, kSignTag, group_.communicator, &send_);
  last_sent_ = now;
}

void Heartbeat::hear_sign(Clock::time_point now) {
  const int before = (group_.rank + group_.size - 1) % group_.size;
  for (int done = 1; done != 0;) {
    if (receive_ == MPI_REQUEST_NULL)
      MPI_Irecv(&received_, 1, MPI_CHAR, before, kSignTag, group_.communicator, &receive_);
    MPI_Test(&receive_, &done, MPI_STATUS_IGNORE);
    if (done != 0) last_heard_ = now;
  }
}

int Heartbeat::gone_rank() const {
  const RankProcess& own = group_.processes[static_cast<size_t>(group_.rank)];
  for (int rank = 0; rank < group_.size; ++rank) {
    const RankProcess& other = group_.processes[static_cast<size_t>(rank)];
    if (rank == group_.rank || other.host != own.host || other.process_space != own.process_space) continue;
    if (::kill(static_cast<pid_t>(other.process), 0) != 0 && errno == ESRCH) return rank;
  }
  return -1;
}

// One of those that can see it is to tell.
bool Heartbeat::is_first_left(int gone) const {
  const RankProcess& own = group_.processes[static_cast<size_t>(group_.rank)];
  for (int rank = 0; rank < group_.rank; ++rank) {
    const RankProcess& other = group_.processes[static_cast<size_t>(rank)];
    if (rank != gone && other.host == own.host && other.process_space == own.process_space &&
        ::kill(static_cast<pid_t>(other.process), 0) == 0)
      return false;
  }
  return true;
}

void Heartbeat::beat() {
  for (Clock::time_point before = Clock::now(); !stops_; std::this_thread::sleep_for(kLook)) {
    const Clock::time_point now = Clock::now();
    // Who was stopped or asleep itself knows nothing about the others.
    if (now - before > kDeadline / 3) last_heard_ = now;
    before = now;
    {
      const std::lock_guard lock(group_.mpi);
      send_sign(now);
      hear_sign(now);
    }
    if (const int gone = gone_rank(); gone >= 0 && !stops_) {
      if (is_first_left(gone)) lost_(gone, "its process is gone");
      return;
    }
    if (now - last_heard_ > kDeadline) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - last_heard_).count();
      lost_((group_.rank + group_.size - 1) % group_.size,
            fmt::format("no sign of life for {} seconds", seconds));
      return;
    }
  }
}

}  // namespace sluice
