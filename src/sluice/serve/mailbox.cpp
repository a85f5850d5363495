#include "sluice/serve/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sluice/base/error.h"

namespace sluice::serve {

Mailbox::Mailbox() : wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!wake_.is_open()) throw failure({.what = "cannot make an eventfd", .got = std::strerror(errno)});
}

void Mailbox::put(Delivery delivery) {
  const std::scoped_lock lock(mutex_);
  deliveries_.push_back(std::move(delivery));
  const uint64_t one = 1;
  // It can fail only if it is readable already.
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

std::vector<Delivery> Mailbox::take() {
  const std::scoped_lock lock(mutex_);
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t read = ::read(wake_.get(), &count, sizeof count);
  return std::exchange(deliveries_, {});
}

}  // namespace sluice::serve
