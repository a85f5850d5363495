// What the computing thread hands to the one that talks to clients, and what wakes that up.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/file_descriptor.h"
#include "sluice/serve/http_message.h"

namespace sluice::serve {

// For a connection: a whole response, or a piece of a stream, which ends when there is no more.
struct Delivery {
  uint64_t connection = 0;
  std::optional<HttpResponse> response = {};
  std::string piece = {};
  bool last = true;
};

class Mailbox {
 public:
  Mailbox();

  void put(Delivery delivery);
  std::vector<Delivery> take();

  // Readable while something is in it.
  int descriptor() const { return wake_.get(); }

 private:
  FileDescriptor wake_;
  std::mutex mutex_;
  std::vector<Delivery> deliveries_;
};

}  // namespace sluice::serve
