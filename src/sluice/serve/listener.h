// The socket that connections come in by.
#pragma once

#include <cstdint>
#include <string>

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

struct Accepted {
  FileDescriptor socket;  // closed: nobody is waiting
  std::string address = {};
};

// Does not block, nor will the socket.
Accepted accept_from(const Listener& listener);

}  // namespace sluice::serve
