// How a handler answers a request: at once, or by a computation that waits for its turn.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "sluice/serve/fair_queue.h"
#include "sluice/serve/http_message.h"

namespace sluice::serve {

// Server-sent events of one answer.
class EventStream {
 public:
  virtual ~EventStream() = default;

  // Without a name it is plain data. The text may not have line breaks, as JSON on one line has none.
  virtual void send(std::string_view event, std::string_view data) = 0;
};

struct Computation {
  std::string kind, model;  // as the queue shows it

  // One of the two. An HttpError or an Error is told to the client, in a stream as an event "error".
  std::function<HttpResponse(const Turn&)> whole = {};
  std::function<void(EventStream&, const Turn&)> stream = {};
  bool tells_place = false;  // a stream that begins with events "queue"
};

using Answer = std::variant<HttpResponse, Computation>;
using Handler = std::function<Answer(const HttpRequest&)>;

// "event: token\ndata: {…}\n\n"
std::string event_text(std::string_view event, std::string_view data);

}  // namespace sluice::serve
