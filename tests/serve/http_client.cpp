#include "tests/serve/http_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>

namespace sluice::serve {

HttpClient::HttpClient(uint16_t port)
    : port_(port), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) socket_.close();
}

void HttpClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

bool HttpClient::fill() {
  char bytes[65536];
  ssize_t count = 0;
  // A process that was stopped and goes on is told of it where it waits with a limit.
  do {
    count = ::recv(socket_.get(), bytes, sizeof bytes, 0);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(count));
  return true;
}

std::optional<std::string> HttpClient::take(size_t bytes) {
  while (buffer_.size() < bytes)
    if (!fill()) return {};
  std::string taken = buffer_.substr(0, bytes);
  buffer_.erase(0, bytes);
  return taken;
}

std::optional<std::string> HttpClient::take_line() {
  while (buffer_.find("\r\n") == std::string::npos)
    if (!fill()) return {};
  const size_t end = buffer_.find("\r\n");
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return line;
}

ClientResponse HttpClient::receive_head() {
  ClientResponse response;
  const std::optional<std::string> status = take_line();
  if (!status || status->size() < 12) return {};
  response.status = std::stoi(status->substr(9, 3));
  while (const std::optional<std::string> line = take_line()) {
    if (line->empty()) break;
    const size_t colon = line->find(": ");
    std::string name = line->substr(0, colon);
    std::ranges::transform(name, name.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    response.headers[name] = line->substr(colon + 2);
  }
  return response;
}

ClientResponse HttpClient::receive() {
  ClientResponse response = receive_head();
  if (response.headers.contains("transfer-encoding")) {
    while (const std::optional<std::string> length = take_line()) {
      const std::optional<std::string> chunk = take(std::stoul(*length, nullptr, 16) + 2);
      if (!chunk || chunk->size() == 2) break;
      response.body += chunk->substr(0, chunk->size() - 2);
    }
  } else if (response.headers.contains("content-length")) {
    response.body = take(std::stoul(response.headers["content-length"])).value_or("");
  }
  return response;
}

bool HttpClient::sees_end() {
  char bytes[65536];
  ssize_t count = 0;
  do {
    count = ::recv(socket_.get(), bytes, sizeof bytes, 0);
  } while (count > 0);
  return count == 0 || errno == ECONNRESET;
}

ClientResponse HttpClient::get(const std::string& path, const std::string& headers) {
  send(fmt::format("GET {} HTTP/1.1\r\nHost: localhost:{}\r\n{}\r\n", path, port_, headers));
  return receive();
}

std::string HttpClient::post_request(const std::string& path, const std::string& body,
                                     const std::string& headers) const {
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\nContent-Length: "
      "{}\r\n{}\r\n{}",
      path, port_, body.size(), headers, body);
}

ClientResponse HttpClient::post_text(const std::string& path, const std::string& body,
                                     const std::string& headers) {
  send(post_request(path, body, headers));
  return receive();
}

ClientResponse HttpClient::post(const std::string& path, const nlohmann::json& body,
                                const std::string& headers) {
  return post_text(path, body.dump(), headers);
}

}  // namespace sluice::serve
