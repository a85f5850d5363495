// Everything that clients do wrong, many of them at once: the server answers as it should, memory stays where
// it is, and the queue is empty afterwards.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <set>

#include "sluice/base/random.h"
#include "tests/serve/running_server.h"

namespace sluice::serve {
namespace {

using namespace std::chrono_literals;

constexpr int kClients = 64;
constexpr int kRequests = 10'000;  // in all
constexpr int kWarmUp = 3'000;     // after which memory has to stay where it is

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * 4096;
}

enum class Deed {
  Health,
  View,
  Compare,
  Map,
  Generate,
  MalformedJson,
  TooLarge,
  Traversal,
  ForeignOrigin,
  ForeignHost,
  HalfRequest,  // and away
  AwayAtOnce,   // before the answer
  Garbage,
  Count,
};

// What may come of it; 0: the connection ended without an answer.
std::set<int> expected_statuses(Deed deed) {
  switch (deed) {
    case Deed::Health:
      return {200};
    case Deed::View:
    case Deed::Compare:
    case Deed::Map:
    case Deed::Generate:
      return {200, 503};
    case Deed::MalformedJson:
    case Deed::Garbage:
      return {400};
    case Deed::TooLarge:
      return {413};
    case Deed::Traversal:
      return {404};
    case Deed::ForeignOrigin:
    case Deed::ForeignHost:
      return {403};
    default:
      return {0};
  }
}

int status_after(HttpClient& client, Deed deed, uint64_t index) {
  const nlohmann::json subject = {{"model", index % 2 == 0 ? "baseline" : "headwise"},
                                  {"prompt", fmt::format("^prompt{}", static_cast<char>('a' + index % 26))}};
  nlohmann::json body = subject;
  switch (deed) {
    case Deed::Health:
      return client.get("/health").status;
    case Deed::View:
      return client.post("/api/v1/view", subject).status;
    case Deed::Compare:
      return client.post("/api/v1/compare", {{"a", subject}, {"b", subject}}).status;
    case Deed::Map:
      body.update({{"kind", "attention"}, {"layer", index % 3}});
      return client.post("/api/v1/map", body).status;
    case Deed::Generate:
      body["max_tokens"] = 4;
      return client.post("/api/v1/generate", body).status;
    case Deed::MalformedJson:
      return client.post_text("/api/v1/view", "{\"model\": [[[[").status;
    case Deed::TooLarge:
      client.send("POST /api/v1/view HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n" +
                  std::string(10'000, 'x'));
      return client.receive().status;
    case Deed::Traversal:
      return client.get("/../../../../etc/passwd").status;
    case Deed::ForeignOrigin:
      return client.post("/api/v1/view", subject, "Origin: http://evil.example\r\n").status;
    case Deed::ForeignHost:
      client.send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
      return client.receive().status;
    case Deed::HalfRequest:
      client.send("POST /api/v1/view HTTP/1.1\r\nHost: h\r\nContent-Le");
      client.close();
      return 0;
    case Deed::AwayAtOnce:
      client.send(client.post_request("/api/v1/view", subject.dump()));
      client.close();
      return 0;
    default:
      client.send("\x16\x03\x01 not http\r\n\r\n");
      return client.receive().status;
  }
}

// What must not be kept open after it.
bool ends_connection(Deed deed) {
  return deed == Deed::TooLarge || deed == Deed::HalfRequest || deed == Deed::AwayAtOnce ||
         deed == Deed::Garbage;
}

class Crowd {
 public:
  explicit Crowd(uint16_t port) : port_(port) {}

  void do_requests(int count) {
    left_ = count;
    std::vector<std::thread> threads;
    for (int i = 0; i < kClients; ++i) threads.emplace_back([this, i] { run(static_cast<uint64_t>(i)); });
    for (std::thread& thread : threads) thread.join();
  }

  std::set<std::string> surprises;

 private:
  void run(uint64_t client_index) {
    const Random random(round_ + 1, client_index);
    HttpClient client(port_);
    for (uint64_t i = 0; left_-- > 0; ++i) {
      const auto deed = static_cast<Deed>(random.below(i, static_cast<uint64_t>(Deed::Count)));
      const int status = status_after(client, deed, i);
      if (!expected_statuses(deed).contains(status)) {
        const std::scoped_lock lock(mutex_);
        surprises.insert(fmt::format("deed {}: status {}", static_cast<int>(deed), status));
      }
      if (ends_connection(deed) || !client.is_open() || status == 0) client = HttpClient(port_);
    }
  }

  uint16_t port_;
  uint64_t round_ = 0;
  std::atomic<int> left_ = 0;
  std::mutex mutex_;
};

TEST(Load, of_ten_thousand_requests_leaves_the_server_as_it_was) {
  ExplorerOptions options;
  options.cache_bytes = size_t{4} << 20;
  options.server.connection.times.request = 2s;
  const RunningExplorer explorer(options);
  // Slow ones that never finish, beside all others. They are cut off, and come again.
  std::atomic<bool> over = false;
  std::atomic<int> cut_off = 0;
  std::thread slow([&] {
    while (!over) {
      HttpClient client = explorer.client();
      for (int i = 0; i < 400 && !over && client.is_open(); ++i) {
        client.send(i == 0 ? "GET / HTTP/1.1\r\nX: " : "y");
        std::this_thread::sleep_for(10ms);
      }
      if (!over && client.receive().status == 408) ++cut_off;
    }
  });
  Crowd crowd(explorer.port());
  crowd.do_requests(kWarmUp);
  const int64_t before = resident_bytes();
  crowd.do_requests(kRequests - kWarmUp);
  const int64_t growth = resident_bytes() - before;
  over = true;
  slow.join();
  EXPECT_EQ(crowd.surprises, std::set<std::string>());
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(growth, int64_t{32} << 20) << "bytes that the second part of the load has taken";
#endif
  HttpClient client = explorer.client();
  EXPECT_EQ(client.post("/api/v1/view", {{"model", "headwise"}, {"prompt", "^after"}}).status, 200);
  // The answer comes a moment before its computation is over.
  nlohmann::json queue;
  for (int i = 0; i < 1000 && (i == 0 || !queue["running"].is_null()); ++i) {
    if (i > 0) std::this_thread::sleep_for(10ms);
    queue = client.get("/api/v1/queue").json();
  }
  EXPECT_TRUE(queue["running"].is_null());
  EXPECT_EQ(queue["waiting"], 0);
  fmt::print("{} slow clients cut off, {} bytes more memory\n", cut_off.load(), growth);
}

}  // namespace
}  // namespace sluice::serve
