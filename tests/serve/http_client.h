// A client that can be as rude as a test wants: bytes to a socket, and what comes back.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/base/file_descriptor.h"

namespace sluice::serve {

struct ClientResponse {
  int status = 0;                                   // 0: the connection ended before there was one
  std::map<std::string, std::string> headers = {};  // names in lower case
  std::string body = {};                            // of chunks, put together

  nlohmann::json json() const { return nlohmann::json::parse(body); }
};

class HttpClient {
 public:
  explicit HttpClient(uint16_t port);

  void send(std::string_view bytes);

  // Waits at most ten seconds for it.
  ClientResponse receive();

  // Of an answer to HEAD: no body follows, whatever length it tells.
  ClientResponse receive_head();

  // True if the other side has closed within ten seconds; what it sends until then is dropped.
  bool sees_end();

  ClientResponse get(const std::string& path, const std::string& headers = "");
  ClientResponse post(const std::string& path, const nlohmann::json& body, const std::string& headers = "");
  ClientResponse post_text(const std::string& path, const std::string& body, const std::string& headers = "");

  // The request as it would be sent.
  std::string post_request(const std::string& path, const std::string& body,
                           const std::string& headers = "") const;

  void close() { socket_.close(); }
  bool is_open() const { return socket_.is_open(); }

 private:
  bool fill();
  std::optional<std::string> take(size_t bytes);
  std::optional<std::string> take_line();

  uint16_t port_;
  FileDescriptor socket_;
  std::string buffer_;
};

}  // namespace sluice::serve
