// A server that runs on a thread of its own for as long as a test needs it.
#pragma once

#include <atomic>
#include <filesystem>
#include <thread>

#include "sluice/serve/explorer.h"
#include "tests/serve/http_client.h"

namespace sluice::serve {

inline std::filesystem::path nursery_model(const std::string& name) {
  return std::filesystem::path(SLUICE_SOURCE_DIR) / "tests/golden/nursery" / name;
}

// The server under test with a handler of the test's own.
class RunningServer {
 public:
  explicit RunningServer(Handler handler, const ServerOptions& options = {}, QueueLimits limits = {})
      : queue_(limits), server_(options, std::move(handler), queue_, metrics_) {
    thread_ = std::thread([this] { server_.run([this] { return stop_.load(); }); });
  }
  ~RunningServer() {
    stop_ = true;
    thread_.join();
  }

  uint16_t port() const { return server_.port(); }
  HttpClient client() const { return HttpClient(port()); }
  FairQueue& queue() { return queue_; }
  Metrics& metrics() { return metrics_; }

 private:
  std::atomic<bool> stop_ = false;
  FairQueue queue_;
  Metrics metrics_;
  Server server_;
  std::thread thread_;
};

// The explorer with the nursery's pair, baseline and headwise.
class RunningExplorer {
 public:
  explicit RunningExplorer(ExplorerOptions options = {})
      : explorer_(engine_, with_models(std::move(options))) {
    thread_ = std::thread([this] { explorer_.run([this] { return stop_.load(); }); });
  }
  ~RunningExplorer() {
    stop_ = true;
    thread_.join();
  }

  uint16_t port() const { return explorer_.port(); }
  std::string address() const { return explorer_.address(); }
  HttpClient client() const { return HttpClient(port()); }

 private:
  static ExplorerOptions with_models(ExplorerOptions options) {
    if (options.models.empty()) options.models = {nursery_model("baseline"), nursery_model("headwise")};
    return options;
  }

  std::atomic<bool> stop_ = false;
  Engine engine_{{.threads = 1}};
  Explorer explorer_;
  std::thread thread_;
};

}  // namespace sluice::serve
