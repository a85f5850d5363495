#include "sluice/serve/server.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/base/stopwatch.h"

namespace sluice::serve {
namespace {

// How soon a wish to stop, a missed deadline or a new place in the queue is noticed.
constexpr int kTickMilliseconds = 100;
constexpr std::chrono::milliseconds kWaitForWork{200};

class MailedEvents : public EventStream {
 public:
  MailedEvents(Mailbox& mailbox, uint64_t connection) : mailbox_(mailbox), connection_(connection) {}

  void send(std::string_view event, std::string_view data) override {
    mailbox_.put({.connection = connection_, .piece = event_text(event, data), .last = false});
  }

 private:
  Mailbox& mailbox_;
  uint64_t connection_;
};

// What came of a computation that failed; why it was interrupted is known by the time it took.
HttpError failure_of(double seconds, const QueueLimits& limits) {
  try {
    throw;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Interrupted) return current_error();
    if (seconds >= limits.seconds)
      return {504, fmt::format("the computation took longer than {:g} s", limits.seconds)};
    return {503, "the computation was cancelled"};
  } catch (...) {
    return current_error();
  }
}

}  // namespace

std::string event_text(std::string_view event, std::string_view data) {
  return event.empty() ? fmt::format("data: {}\n\n", data)
                       : fmt::format("event: {}\ndata: {}\n\n", event, data);
}

QueueClient client_of(const HttpRequest& request) {
  const std::string* name = request.header("x-sluice-client");
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  if (name == nullptr || name->empty() || name->size() > 64 || !std::ranges::all_of(*name, is_plain))
    return {.peer = request.address};
  return {.peer = request.address, .name = *name};
}

Server::Server(const ServerOptions& options, Handler handler, FairQueue& queue, Metrics& metrics)
    : options_(options),
      handler_(std::move(handler)),
      queue_(queue),
      metrics_(metrics),
      listener_(listen_at(options.host, options.port)) {}

Server::~Server() {
  queue_.close();
  if (computer_.joinable()) computer_.join();
}

void Server::run(const std::function<bool()>& stop) {
  std::atomic<bool> ended = false;
  computer_ = std::thread([&] {
    while (!ended) queue_.run_next(kWaitForWork);
  });
  while (!stop()) step();
  ended = true;
  queue_.close();
  computer_.join();
  connections_.clear();
}

void Server::step() {
  std::vector<pollfd> polled = {{mailbox_.descriptor(), POLLIN, 0}, {listener_.socket.get(), POLLIN, 0}};
  std::vector<uint64_t> ids;
  for (const auto& [id, connection] : connections_) {
    polled.push_back({connection.descriptor(), connection.wanted_events(), 0});
    ids.push_back(id);
  }
  if (::poll(polled.data(), polled.size(), kTickMilliseconds) > 0) {
    if (polled[0].revents != 0)
      for (const Delivery& delivery : mailbox_.take()) deliver(delivery);
    for (size_t i = 0; i < ids.size(); ++i)
      if (polled[i + 2].revents != 0) serve(ids[i], polled[i + 2].revents);
    if (polled[1].revents != 0) accept_all();
  }
  tell_places();
  cut_off_late();
  remove_closed();
}

void Server::accept_all() {
  while (true) {
    Accepted accepted = accept_from(listener_);
    if (!accepted.socket.is_open()) return;
    ++metrics_.accepted;
    Connection connection(std::move(accepted.socket), accepted.address, options_.connection);
    if (!make_room()) {
      ++metrics_.turned_away;
      respond(connection, error_response({503, "too many connections"}), Connection::After::Close);
      continue;  // and closes: whoever comes in such a crowd is not seen off
    }
    connections_.emplace(++last_id_, std::move(connection));
    ++metrics_.connections;
  }
}

// The connection that has been idle for longest gives its place to a new one.
bool Server::make_room() {
  if (connections_.size() < options_.connections) return true;
  auto longest = connections_.end();
  for (auto each = connections_.begin(); each != connections_.end(); ++each)
    if (each->second.is_idle() &&
        (longest == connections_.end() || each->second.since() < longest->second.since()))
      longest = each;
  if (longest == connections_.end()) return false;
  ++metrics_.turned_away;
  longest->second.close();
  remove_closed();
  return true;
}

void Server::serve(uint64_t id, short events) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  const bool computing = connection.phase() == Connection::Phase::Computing;
  if ((events & (POLLERR | POLLNVAL)) != 0 || (computing && (events & (POLLHUP | POLLRDHUP)) != 0))
    return connection.close();
  if ((events & (POLLIN | POLLHUP)) != 0) connection.receive();
  if ((events & POLLOUT) != 0) connection.send();
  answer_requests(id);
}

// One after the other: the next is looked at when the last is answered.
void Server::answer_requests(uint64_t id) {
  Connection& connection = connections_.at(id);
  try {
    while (const std::optional<HttpRequest> request = connection.next_request()) answer(id, *request);
  } catch (const HttpError& error) {
    respond(connection, error_response(error), Connection::After::Close);
  }
}

void Server::answer(uint64_t id, const HttpRequest& request) {
  Connection& connection = connections_.at(id);
  try {
    Answer answer = handler_(request);
    if (auto* computation = std::get_if<Computation>(&answer))
      return enqueue(id, request, std::move(*computation));
    respond(connection, std::get<HttpResponse>(answer), Connection::After::KeepAlive);
  } catch (...) {
    respond(connection, error_response(current_error()), Connection::After::KeepAlive);
  }
}

void Server::enqueue(uint64_t id, const HttpRequest& request, Computation computation) {
  Connection& connection = connections_.at(id);
  const bool streams = computation.stream != nullptr, tells_place = computation.tells_place;
  QueuedWork work{.client = client_of(request), .kind = computation.kind, .model = computation.model};
  work.run = work_of(id, std::move(computation));
  const std::optional<uint64_t> ticket = queue_.push(std::move(work));
  if (!ticket) throw HttpError(503, "too many requests are waiting");
  connection.begin_computing(*ticket);
  if (streams) connection.begin_stream({.type = "text/event-stream"});
  if (tells_place) told_places_[id] = 0;
}

std::function<void(const Turn&)> Server::work_of(uint64_t id, Computation computation) {
  return [this, id, computation = std::move(computation)](const Turn& turn) {
    const Stopwatch watch;
    Delivery delivery{.connection = id};
    MailedEvents events(mailbox_, id);
    try {
      if (computation.stream) {
        computation.stream(events, turn);
      } else {
        delivery.response = computation.whole(turn);
      }
    } catch (...) {
      const HttpResponse response = error_response(failure_of(watch.seconds(), queue_.limits()));
      if (computation.stream) {
        events.send("error", response.body);
      } else {
        delivery.response = response;
      }
    }
    metrics_.count_computation(computation.kind, watch.seconds());
    mailbox_.put(std::move(delivery));
  };
}

void Server::deliver(const Delivery& delivery) {
  const auto found = connections_.find(delivery.connection);
  if (found == connections_.end() || found->second.phase() != Connection::Phase::Computing) return;
  Connection& connection = found->second;
  told_places_.erase(delivery.connection);
  if (delivery.response) {
    respond(connection, *delivery.response, Connection::After::KeepAlive);
  } else if (!delivery.last) {
    connection.stream_piece(delivery.piece);
  } else {
    connection.end_stream();
    metrics_.count_response(200);
  }
  answer_requests(delivery.connection);
}

// Streams that wait say where they stand, whenever that changes.
void Server::tell_places() {
  if (told_places_.empty()) return;
  const QueueStatus status = queue_.status();
  for (auto& [id, told] : told_places_) {
    Connection& connection = connections_.at(id);
    const auto mine = std::ranges::find(status.waiting, connection.ticket(), &WaitingWork::ticket);
    if (mine == status.waiting.end() || mine->place == told) continue;
    told = mine->place;
    const std::string expected = mine->expected_s ? fmt::format("{:.3f}", *mine->expected_s) : "null";
    connection.stream_piece(
        event_text("queue", fmt::format("{{\"place\":{},\"expected_s\":{}}}", mine->place, expected)));
  }
}

void Server::cut_off_late() {
  const Connection::Clock::time_point now = Connection::Clock::now();
  for (auto& [id, connection] : connections_) {
    const Connection::Lateness late = connection.lateness(now);
    const bool flooded = connection.is_streaming() && connection.pending() > options_.stream_bytes;
    if (late == Connection::Lateness::None && !flooded) continue;
    if (late == Connection::Lateness::Request) {
      respond(connection, error_response({408, "the request did not arrive in time"}),
              Connection::After::Close);
    } else {
      connection.close();
    }
    if (late != Connection::Lateness::Idle) ++metrics_.cut_off;
  }
}

// Work of whoever has gone is not done.
void Server::remove_closed() {
  for (auto each = connections_.begin(); each != connections_.end();) {
    const auto& [id, connection] = *each;
    if (connection.phase() != Connection::Phase::Closed) {
      ++each;
      continue;
    }
    if (connection.ticket() != 0) {
      queue_.cancel(connection.ticket());
      ++metrics_.cancelled;
    }
    metrics_.sent_bytes += static_cast<int64_t>(connection.sent_bytes());
    --metrics_.connections;
    told_places_.erase(id);
    each = connections_.erase(each);
  }
}

void Server::respond(Connection& connection, const HttpResponse& response, Connection::After after) {
  metrics_.count_response(response.status);
  connection.respond(response, after);
}

}  // namespace sluice::serve
