// JSON over HTTP to a browser's driver on this machine: one connection per request, which is all that it
// takes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sluice::test {

struct DriverRequest {
  std::string method;  // GET, POST, DELETE
  std::string path;
  nlohmann::json body = nlohmann::json::object();  // of a POST
};

class DriverConnection {
 public:
  explicit DriverConnection(int port) : port_(port) {}

  // The `value` of the answer. Throws with the driver's words if it refuses, or if nothing comes within
  // minutes.
  nlohmann::json send(const DriverRequest& request) const;

  // Whether somebody answers at all.
  bool answers() const;

 private:
  int port_;
};

}  // namespace sluice::test
