#include "tests/browser/driver_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <string_view>

namespace sluice::test {
namespace {

// A busy machine may take its time to start a browser.
constexpr timeval kLongestSilence{180, 0};

class Socket {
 public:
  explicit Socket(int port) : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &kLongestSilence, sizeof kLongestSilence);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      close(descriptor_);
      throw std::runtime_error("the driver does not answer");
    }
  }
  ~Socket() { close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void write_all(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
      if (written <= 0) throw std::runtime_error("the driver has hung up");
      text.remove_prefix(static_cast<size_t>(written));
    }
  }

  // Some bytes are added; false at the end.
  bool read_more(std::string& text) const {
    std::array<char, 65536> buffer;
    ssize_t read = 0;
    // A process that was stopped and goes on is told of it where it waits with a limit.
    do {
      read = recv(descriptor_, buffer.data(), buffer.size(), 0);
    } while (read < 0 && errno == EINTR);
    if (read < 0) throw std::runtime_error("the driver has fallen silent");
    text.append(buffer.data(), static_cast<size_t>(read));
    return read > 0;
  }

 private:
  int descriptor_;
};

std::string lower(std::string text) {
  for (char& sign : text) sign = static_cast<char>(tolower(static_cast<unsigned char>(sign)));
  return text;
}

// The body, by the length that the headers tell: the driver keeps the connection open.
std::string read_body(const Socket& socket) {
  std::string text;
  size_t end = std::string::npos;
  while ((end = text.find("\r\n\r\n")) == std::string::npos)
    if (!socket.read_more(text)) throw std::runtime_error("the driver's answer is cut off");
  constexpr std::string_view kLength = "content-length:";
  const size_t length_at = lower(text.substr(0, end)).find(kLength);
  if (length_at == std::string::npos) throw std::runtime_error("the driver's answer has no length");
  const size_t length = std::stoul(text.substr(length_at + kLength.size()));
  const size_t start = end + 4;
  while (text.size() < start + length)
    if (!socket.read_more(text)) throw std::runtime_error("the driver's answer is cut off");
  return text.substr(start, length);
}

}  // namespace

nlohmann::json DriverConnection::send(const DriverRequest& request) const {
  const Socket socket(port_);
  const std::string body = request.method == "POST" ? request.body.dump() : "";
  socket.write_all(request.method + " " + request.path +
                   " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
                   "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                   "\r\n\r\n" + body);
  const nlohmann::json answer = nlohmann::json::parse(read_body(socket));
  const nlohmann::json& value = answer.at("value");
  if (value.is_object() && value.contains("error"))
    throw std::runtime_error(request.path + ": " + value.value("error", "") + ": " +
                             value.value("message", ""));
  return value;
}

bool DriverConnection::answers() const {
  try {
    return send({.method = "GET", .path = "/status"}).value("ready", false);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace sluice::test
