// The server: one thread that talks to all clients and never blocks, one that computes. What is answered is
// for a handler to say.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "sluice/serve/answer.h"
#include "sluice/serve/connection.h"
#include "sluice/serve/listener.h"
#include "sluice/serve/mailbox.h"
#include "sluice/serve/metrics.h"

namespace sluice::serve {

struct ServerOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;
  Connection::Settings connection = {};
  size_t connections = 256;
  size_t stream_bytes = size_t{4} << 20;  // of a stream that its client has not taken: then it is cut off
};

class Server {
 public:
  // Listens from now on. The handler is called on the thread of run(), computations on the other. Queue and
  // metrics belong to the caller, who shows them.
  Server(const ServerOptions& options, Handler handler, FairQueue& queue, Metrics& metrics);
  ~Server();

  uint16_t port() const { return listener_.port; }

  // Until `stop`, asked a few times a second, says so.
  void run(const std::function<bool()>& stop);

 private:
  void step();
  void accept_all();
  bool make_room();
  void serve(uint64_t id, short events);
  void answer_requests(uint64_t id);
  void answer(uint64_t id, const HttpRequest& request);
  void enqueue(uint64_t id, const HttpRequest& request, Computation computation);
  std::function<void(const Turn&)> work_of(uint64_t id, Computation computation);
  void deliver(const Delivery& delivery);
  void tell_places();
  void cut_off_late();
  void remove_closed();
  void respond(Connection& connection, const HttpResponse& response, Connection::After after);

  ServerOptions options_;
  Handler handler_;
  FairQueue& queue_;
  Metrics& metrics_;
  Listener listener_;
  Mailbox mailbox_;
  uint64_t last_id_ = 0;
  std::map<uint64_t, Connection> connections_;
  std::map<uint64_t, size_t> told_places_;  // of connections whose stream tells them; 0: none yet
  std::thread computer_;
};

// Whom the queue is fair to: an address, and there whatever calls itself something else (a page in each tab).
QueueClient client_of(const HttpRequest& request);

}  // namespace sluice::serve
