#include "sluice/base/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "sluice/base/error.h"

namespace sluice {
namespace {

// Atomic: the system may deliver the signal on any thread.
std::atomic<int> interrupted = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not wait");

void note(int) {
  if (interrupted != 0) _exit(static_cast<int>(ErrorKind::Interrupted));
  interrupted = 1;
}

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = note;
  // Without SA_RESTART: who waits for input wakes up and sees the wish.
  // SIGUSR1 is what mpirun hands on at once.
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) ::sigaction(signal, &action, nullptr);
  // A terminal that was closed ends a job in order, but not one that nohup has told to go on.
  struct sigaction closed = {};
  if (::sigaction(SIGHUP, nullptr, &closed) == 0 && closed.sa_handler != SIG_IGN)
    ::sigaction(SIGHUP, &action, nullptr);
}

bool is_interrupted() {
  return interrupted != 0;
}

void throw_if_interrupted() {
  if (is_interrupted()) throw Error(ErrorKind::Interrupted, {.what = "interrupted"});
}

}  // namespace sluice
