// What a server has done so far, in numbers. Safe to use from several threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace sluice::serve {

class Metrics {
 public:
  std::atomic<int64_t> connections = 0;  // open now
  std::atomic<int64_t> accepted = 0, turned_away = 0, cut_off = 0, cancelled = 0;
  std::atomic<int64_t> sent_bytes = 0, generated_tokens = 0, views_cached = 0, views_computed = 0;

  void count_response(int status) { ++responses_.at(static_cast<size_t>(status / 100)); }
  void count_computation(const std::string& kind, double seconds);

  // A figure that somebody else knows: how much waits, how large a cache is.
  struct Gauge {
    std::string name, help;
    double value = 0;
  };

  // As Prometheus reads it.
  std::string text(const std::vector<Gauge>& gauges) const;

 private:
  struct Computations {
    int64_t count = 0;
    double seconds = 0;
  };

  std::array<std::atomic<int64_t>, 6> responses_ = {};  // by the first digit of their status
  mutable std::mutex mutex_;
  std::map<std::string, Computations> computations_;
};

}  // namespace sluice::serve
