#include "sluice/serve/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "sluice/base/error.h"

namespace sluice::serve {
namespace {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  sockaddr_in& v4() { return reinterpret_cast<sockaddr_in&>(storage); }
  sockaddr_in6& v6() { return reinterpret_cast<sockaddr_in6&>(storage); }
};

// Names are not looked up: what they stand for may change, and whoever listens should know where.
SocketAddress address_of(const std::string& host, uint16_t port) {
  SocketAddress address;
  const char* numeric = host == "localhost" ? "127.0.0.1" : host.c_str();
  if (::inet_pton(AF_INET, numeric, &address.v4().sin_addr) == 1) {
    address.v4().sin_family = AF_INET;
    address.v4().sin_port = htons(port);
    address.size = sizeof(sockaddr_in);
  } else if (::inet_pton(AF_INET6, numeric, &address.v6().sin6_addr) == 1) {
    address.v6().sin6_family = AF_INET6;
    address.v6().sin6_port = htons(port);
    address.size = sizeof(sockaddr_in6);
  } else {
    throw usage_error({.where = "--host",
                       .expected = "an address such as 127.0.0.1, ::1 or 0.0.0.0",
                       .got = fmt::format("\"{:.80}\"", host)});
  }
  return address;
}

bool is_loopback_v4(const in_addr& address) {
  return ntohl(address.s_addr) >> 24 == 127;
}

std::string network_v4(const in_addr& address) {
  if (is_loopback_v4(address)) return std::string(kThisMachine);
  char text[INET_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

std::string network_v6(in6_addr address) {
  if (IN6_IS_ADDR_LOOPBACK(&address)) return std::string(kThisMachine);
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    in_addr inner = {};
    std::memcpy(&inner, address.s6_addr + 12, sizeof inner);
    return network_v4(inner);
  }
  std::memset(address.s6_addr + 8, 0, 8);
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET6, &address, text, sizeof text);
  return fmt::format("{}/64", text);
}

std::string network_of(SocketAddress& address) {
  return address.storage.ss_family == AF_INET ? network_v4(address.v4().sin_addr)
                                              : network_v6(address.v6().sin6_addr);
}

}  // namespace

std::string network_of(const std::string& host) {
  SocketAddress address = address_of(host, 0);
  return network_of(address);
}

Listener listen_at(const std::string& host, uint16_t port) {
  SocketAddress address = address_of(host, port);
  const auto refuse = [&] {
    const int problem = errno;
    throw failure({.where = fmt::format("{}:{}", host, port),
                   .what = fmt::format("cannot listen: {}", std::strerror(problem)),
                   .hint = problem == EADDRINUSE ? "--port 0 takes one that is free" : ""});
  };
  Listener listener{.socket = FileDescriptor(
                        ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0))};
  const int yes = 1;
  const int fd = listener.socket.get();
  if (fd < 0) refuse();
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd, address.get(), address.size) != 0 || ::listen(fd, 128) != 0 ||
      ::getsockname(fd, address.get(), &address.size) != 0)
    refuse();
  listener.port =
      ntohs(address.storage.ss_family == AF_INET ? address.v4().sin_port : address.v6().sin6_port);
  return listener;
}

bool is_loopback(const std::string& host) {
  SocketAddress address = address_of(host, 0);
  if (address.storage.ss_family == AF_INET) return is_loopback_v4(address.v4().sin_addr);
  return IN6_IS_ADDR_LOOPBACK(&address.v6().sin6_addr) != 0;
}

Accepted accept_from(const Listener& listener) {
  SocketAddress peer;
  peer.size = sizeof peer.storage;
  Accepted accepted{.socket = FileDescriptor(::accept4(listener.socket.get(), peer.get(), &peer.size,
                                                       SOCK_NONBLOCK | SOCK_CLOEXEC))};
  if (!accepted.socket.is_open()) return accepted;
  // Tokens of a stream are small and should not wait for each other.
  const int yes = 1;
  ::setsockopt(accepted.socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  accepted.address = network_of(peer);
  return accepted;
}

}  // namespace sluice::serve
