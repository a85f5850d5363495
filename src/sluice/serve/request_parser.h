// Requests out of the bytes of a connection. Strict: what is not plainly HTTP/1.1 is refused, and everything
// has a limit before it is stored.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/serve/http_message.h"

namespace sluice::serve {

struct HttpLimits {
  size_t head_bytes = size_t{16} << 10;  // request line and headers
  size_t headers = 64;
  size_t body_bytes = size_t{1} << 20;
};

class RequestParser {
 public:
  explicit RequestParser(HttpLimits limits = {}) : limits_(limits) {}

  void add(std::string_view bytes) { buffer_ += bytes; }

  // The next request, once it is complete; bytes behind it wait for the one after. Throws an HttpError if
  // there can be none: nothing that follows makes sense then.
  std::optional<HttpRequest> next();

  // Nothing of a request has arrived yet.
  bool is_empty() const { return buffer_.empty() && !head_; }

 private:
  bool read_head();

  HttpLimits limits_;
  std::string buffer_;
  size_t searched_ = 0;              // of the buffer, for the end of the head
  std::optional<HttpRequest> head_;  // whose body is still to come
  size_t body_bytes_ = 0;
};

// %41 becomes A, in queries + a space. Nothing if an escape is broken, or stands for a zero byte.
enum class PlusSign { Plus, Space };
std::optional<std::string> percent_decoded(std::string_view text, PlusSign plus);

// As a part of an address or a cookie: letters, digits and -._~ stay as they are.
std::string percent_encoded(std::string_view text);

}  // namespace sluice::serve
