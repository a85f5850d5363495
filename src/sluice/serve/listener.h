// The socket that connections come in by.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/base/file_descriptor.h"

namespace sluice::serve {

struct Listener {
  FileDescriptor socket;
  uint16_t port = 0;
};

// A numeric address of IPv4 or IPv6, or localhost; port 0 is any that is free. Usage error for another
// address, a failure if it cannot be had.
Listener listen_at(const std::string& host, uint16_t port);

// Whether only this machine can reach it.
bool is_loopback(const std::string& host);

// Where a peer is, as far as it cannot choose: who is at an address of IPv6 has all of its /64, and who is on
// this machine has all of 127.0.0.0/8.
std::string network_of(const std::string& host);
constexpr std::string_view kThisMachine = "this machine";

struct Accepted {
  FileDescriptor socket;     // closed: nobody is waiting
  std::string address = {};  // its network
};

// Does not block, nor will the socket.
Accepted accept_from(const Listener& listener);

}  // namespace sluice::serve
