#include "sluice/serve/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "sluice/base/assert.h"

namespace sluice::serve {
namespace {

// A request is read in pieces of this size: what is read too much belongs to the next one.
constexpr size_t kReadBytes = size_t{16} << 10;

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

Connection::Connection(FileDescriptor socket, std::string address, const Settings& settings)
    : socket_(std::move(socket)),
      address_(std::move(address)),
      times_(settings.times),
      parser_(settings.http) {}

void Connection::enter(Phase phase) {
  phase_ = phase;
  since_ = progress_ = Clock::now();
}

void Connection::close() {
  phase_ = Phase::Closed;
  socket_.close();
}

short Connection::wanted_events() const {
  const int out = pending() > 0 ? POLLOUT : 0;
  switch (phase_) {
    case Phase::Reading:
    case Phase::Leaving:
      return POLLIN;
    case Phase::Computing:
      // What else the client sends waits in the system until this is answered; that it goes away is seen.
      return static_cast<short>(out | POLLRDHUP);
    case Phase::Writing:
      return POLLOUT;
    case Phase::Closed:
      break;
  }
  return 0;
}

void Connection::receive() {
  char bytes[kReadBytes];
  const ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, 0);
  if (count == 0 || (count < 0 && !would_block())) return close();
  if (count < 0 || phase_ != Phase::Reading) return;
  if (parser_.is_empty()) since_ = Clock::now();  // a request begins
  parser_.add({bytes, static_cast<size_t>(count)});
}

void Connection::send() {
  while (pending() > 0) {
    const ssize_t count = ::send(socket_.get(), output_.data() + sent_, pending(), MSG_NOSIGNAL);
    if (count < 0 && would_block()) return;
    if (count < 0) return close();
    sent_ += static_cast<size_t>(count);
    sent_in_all_ += static_cast<uint64_t>(count);
    progress_ = Clock::now();
  }
  output_.clear();
  sent_ = 0;
  if (phase_ != Phase::Writing) return;
  if (after_ == After::KeepAlive) return enter(Phase::Reading);
  ::shutdown(socket_.get(), SHUT_WR);
  enter(Phase::Leaving);
}

std::optional<HttpRequest> Connection::next_request() {
  if (phase_ != Phase::Reading) return {};
  std::optional<HttpRequest> request = parser_.next();
  if (!request) return {};
  request->address = address_;
  keep_alive_ = request->keep_alive;
  head_only_ = request->method == "HEAD";
  return request;
}

void Connection::begin_computing(uint64_t ticket) {
  SLUICE_ASSERT(phase_ == Phase::Reading, "connection: a second computation");
  ticket_ = ticket;
  enter(Phase::Computing);
}

void Connection::respond(const HttpResponse& response, After after) {
  ticket_ = 0;
  after_ = keep_alive_ ? after : After::Close;
  output_ += head_of(response, BodyForm::Whole, after_ == After::KeepAlive);
  // Of this answer alone: what is not a request, or comes too late, is refused without one being read.
  if (!std::exchange(head_only_, false)) output_ += response.body;
  enter(Phase::Writing);
  send();
}

void Connection::begin_stream(const HttpResponse& response) {
  after_ = keep_alive_ ? After::KeepAlive : After::Close;
  output_ += head_of(response, BodyForm::Chunks, keep_alive_);
  streaming_ = true;
  send();
}

void Connection::stream_piece(std::string_view bytes) {
  if (bytes.empty()) return;
  if (pending() == 0) progress_ = Clock::now();  // it is late with this from now on
  output_ += chunk_of(bytes);
  send();
}

void Connection::end_stream() {
  streaming_ = false;
  ticket_ = 0;
  output_ += chunk_of({});
  enter(Phase::Writing);
  send();
}

Connection::Lateness Connection::lateness(Clock::time_point now) const {
  const bool stalled = pending() > 0 && now - progress_ > times_.stalled;
  switch (phase_) {
    case Phase::Reading:
      if (parser_.is_empty()) return now - since_ > times_.idle ? Lateness::Idle : Lateness::None;
      return now - since_ > times_.request ? Lateness::Request : Lateness::None;
    case Phase::Computing:
      return stalled ? Lateness::Response : Lateness::None;
    case Phase::Writing:
      return stalled || now - since_ > times_.answer ? Lateness::Response : Lateness::None;
    case Phase::Leaving:
      return now - since_ > times_.farewell ? Lateness::Idle : Lateness::None;
    case Phase::Closed:
      break;
  }
  return Lateness::None;
}

}  // namespace sluice::serve
