// One client's connection: what has come of its request, what is still to be sent, and until when.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "sluice/base/file_descriptor.h"
#include "sluice/serve/request_parser.h"

namespace sluice::serve {

// All in total, not from byte to byte, but for `stalled`.
struct TimeLimits {
  using Duration = std::chrono::milliseconds;
  Duration request{10'000};  // from its first byte to its last
  Duration idle{60'000};     // between requests
  Duration stalled{30'000};  // without a byte of the answer being taken
  Duration answer{120'000};  // until all of it is, once it is complete
  Duration farewell{2'000};  // for a refused client to read why
};

class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  // Reading: the next request. Computing: it waits or is computed; a stream is being sent. Writing: the end
  // of the answer. Leaving: all is sent, and what still comes in is thrown away, since closing at once would
  // make the system drop what the client has not read yet. Closed: nothing any more.
  enum class Phase { Reading, Computing, Writing, Leaving, Closed };

  struct Settings {
    HttpLimits http = {};
    TimeLimits times = {};
  };

  Connection(FileDescriptor socket, std::string address, const Settings& settings);

  Phase phase() const { return phase_; }
  int descriptor() const { return socket_.get(); }
  const std::string& address() const { return address_; }
  bool is_idle() const { return phase_ == Phase::Reading && parser_.is_empty(); }
  Clock::time_point since() const { return since_; }  // when the phase, or the request, began

  short wanted_events() const;

  // Reading: takes in what has arrived. Leaving: throws it away. Closed if the client has gone.
  void receive();

  // Sends what it can.
  void send();

  // The next request, if it is there. What cannot be one throws an HttpError.
  std::optional<HttpRequest> next_request();

  // While Reading: the request is answered later.
  void begin_computing(uint64_t ticket);
  uint64_t ticket() const { return ticket_; }  // 0: nothing is computed for it

  // The answer to the last request.
  enum class After { KeepAlive, Close };
  void respond(const HttpResponse& response, After after);

  // A stream: its head, pieces of it, its end.
  void begin_stream(const HttpResponse& response);
  void stream_piece(std::string_view bytes);
  void end_stream();
  bool is_streaming() const { return streaming_; }

  void close();

  // What the client is late with now.
  enum class Lateness { None, Request, Idle, Response };
  Lateness lateness(Clock::time_point now) const;

  // Bytes that the client has not taken yet.
  size_t pending() const { return output_.size() - sent_; }
  uint64_t sent_bytes() const { return sent_in_all_; }

 private:
  void enter(Phase phase);

  FileDescriptor socket_;
  std::string address_;
  TimeLimits times_;
  RequestParser parser_;
  Phase phase_ = Phase::Reading;
  Clock::time_point since_ = Clock::now(), progress_ = since_;
  uint64_t ticket_ = 0;
  bool keep_alive_ = true, head_only_ = false, streaming_ = false;
  After after_ = After::KeepAlive;
  std::string output_;
  size_t sent_ = 0;
  uint64_t sent_in_all_ = 0;
};

}  // namespace sluice::serve
