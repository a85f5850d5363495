#include "sluice/serve/latency.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "sluice/base/error.h"
#include "sluice/base/random.h"
#include "sluice/base/stopwatch.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/count.h"
#include "sluice/nn/tap_points.h"
#include "sluice/serve/explorer.h"
#include "sluice/serve/model_shelf.h"

namespace sluice::serve {
namespace {

using nlohmann::ordered_json;

// As much of a client as this server needs.
class LoopbackClient {
 public:
  LoopbackClient(uint16_t port, const JobControl& control)
      : port_(port), control_(control), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw failure({.what = "cannot connect to the explorer"});
    const int yes = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }

  // The body of the answer; a failure if there is none.
  std::string post(const std::string& path, const ordered_json& json) {
    const std::string body = json.dump();
    const std::string request = fmt::format(
        "POST {} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\nContent-Length: "
        "{}\r\n\r\n{}",
        path, port_, body.size(), body);
    if (::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) != std::ssize(request))
      throw failure({.what = "the explorer takes no request"});
    return received();
  }

 private:
  std::string received() {
    std::string bytes;
    size_t head = std::string::npos, length = 0;
    while (head == std::string::npos || bytes.size() < head + length) {
      char piece[1 << 16];
      const ssize_t count = ::recv(socket_.get(), piece, sizeof piece, 0);
      control_.stop_if_cancelled();
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw failure({.what = "the explorer did not answer"});
      bytes.append(piece, static_cast<size_t>(count));
      if (head != std::string::npos || bytes.find("\r\n\r\n") == std::string::npos) continue;
      head = bytes.find("\r\n\r\n") + 4;
      length = std::stoul(bytes.substr(bytes.find("Content-Length: ") + 16));
    }
    if (!bytes.starts_with("HTTP/1.1 200"))
      throw failure({.what = "the explorer refused", .got = bytes.substr(head)});
    return bytes.substr(head);
  }

  uint16_t port_;
  const JobControl& control_;
  FileDescriptor socket_;
};

// An explorer with one model, on a thread of its own.
class BenchedExplorer {
 public:
  BenchedExplorer(Engine& engine, const LatencyRequest& request)
      : explorer_(engine, {.models = {request.model}, .model = request.options}),
        thread_([this] { explorer_.run([this] { return stop_.load(); }); }) {}
  ~BenchedExplorer() {
    stop_ = true;
    thread_.join();
  }

  uint16_t port() const { return explorer_.port(); }

 private:
  std::atomic<bool> stop_ = false;
  Explorer explorer_;
  std::thread thread_;
};

Percentiles percentiles(std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<size_t>(std::ceil(share * static_cast<double>(values.size()))) - 1];
  };
  return {.p50 = at(0.5), .p95 = at(0.95)};
}

// One kind of request, repeated.
class Sampled {
 public:
  Sampled(const char* what, int64_t tokens) : row_{.what = what, .tokens = tokens} {}

  // Returns the answer.
  std::string time(LoopbackClient& client, const std::string& path, const ordered_json& body) {
    const Stopwatch watch;
    std::string answer = client.post(path, body);
    whole_.push_back(watch.seconds());
    const bool is_json = answer.starts_with('{');
    const ordered_json timing = is_json ? ordered_json::parse(answer)["timing"] : ordered_json();
    server_.push_back(timing.is_object() ? timing["computed_s"].get<double>() : 0.0);
    bytes_.push_back(static_cast<double>(answer.size()));
    return answer;
  }

  Latency row() const {
    Latency row = row_;
    row.whole = percentiles(whole_);
    row.server = percentiles(server_);
    row.bytes = static_cast<int64_t>(percentiles(bytes_).p50);
    return row;
  }

 private:
  Latency row_;
  std::vector<double> whole_, server_, bytes_;
};

std::vector<TokenId> random_prompt(int64_t tokens, int64_t vocabulary, uint64_t seed) {
  std::vector<TokenId> ids;
  for (int64_t i = 0; i < tokens; ++i)
    ids.push_back(static_cast<TokenId>(
        Random(seed).below(static_cast<uint64_t>(i), static_cast<uint64_t>(vocabulary))));
  return ids;
}

struct BenchedModel {
  std::string id;
  int64_t vocabulary = 0, parameters = 0;
  std::string change;  // of a gate, up to its amount
};

// A slider of the page moves the first gate; without one, attention's output.
BenchedModel benched_model(const LatencyRequest& request) {
  const ModelConfig config = load_model_config(request.model);
  const std::string_view tap =
      config.gates.empty() ? points::kMixed.name : config.gates.front().position->tap.name;
  return {.id = distinct_names({request.model}).front(),
          .vocabulary = config.vocabulary,
          .parameters = count_parameters(config).total(),
          .change = fmt::format("{} scale=", tap)};
}

void measure_length(LoopbackClient& client, const BenchedModel& model, int64_t tokens, Latencies& latencies) {
  Sampled prompts("new prompt", tokens), gates("moved gate", tokens), maps("map", tokens);
  for (int i = 0; i < latencies.repetitions; ++i) {
    const auto seed = static_cast<uint64_t>(tokens * 1000 + i);
    ordered_json subject = {{"model", model.id}, {"ids", random_prompt(tokens, model.vocabulary, seed)}};
    prompts.time(client, "/api/v1/view", subject);
    ordered_json changed = subject;
    changed["interventions"] = {fmt::format("{}{}", model.change, 0.5 + 0.001 * i)};
    gates.time(client, "/api/v1/compare", {{"a", subject}, {"b", changed}});
    subject.update({{"kind", "attention"}, {"layer", 0}, {"head", 0}, {"type", "f32"}});  // as the page asks
    maps.time(client, "/api/v1/map", subject);
  }
  for (const Sampled* sampled : {&prompts, &gates, &maps}) latencies.rows.push_back(sampled->row());
  if (model.parameters <= kSliderParameters && tokens <= kSliderTokens)
    latencies.rows[latencies.rows.size() - 2].limit = kSliderLimit;
}

}  // namespace

Latencies measure_latency(Engine& engine, const LatencyRequest& request, const JobControl& control) {
  Latencies latencies{.model = request.model.string(), .repetitions = request.repetitions};
  const BenchedExplorer explorer(engine, request);
  LoopbackClient client(explorer.port(), control);
  const BenchedModel model = benched_model(request);
  // The first request loads the model.
  client.post("/api/v1/view", {{"model", model.id}, {"ids", {0}}});
  for (size_t i = 0; i < request.lengths.size(); ++i) {
    control.stop_if_cancelled();
    control.report("lengths", static_cast<int64_t>(i), std::ssize(request.lengths));
    measure_length(client, model, request.lengths[i], latencies);
  }
  control.report("lengths", std::ssize(request.lengths), std::ssize(request.lengths));
  return latencies;
}

ordered_json to_json(const Latencies& latencies) {
  ordered_json rows = ordered_json::array();
  for (const Latency& row : latencies.rows)
    rows.push_back({{"what", row.what},
                    {"tokens", row.tokens},
                    {"p50_s", row.whole.p50},
                    {"p95_s", row.whole.p95},
                    {"server_p50_s", row.server.p50},
                    {"server_p95_s", row.server.p95},
                    {"transfer_p50_s", row.whole.p50 - row.server.p50},
                    {"bytes", row.bytes},
                    {"limit_s", row.limit ? ordered_json(*row.limit) : ordered_json()}});
  return {{"what", "explore"},
          {"model", latencies.model},
          {"repetitions", latencies.repetitions},
          {"rows", std::move(rows)}};
}

std::string to_text(const Latencies& latencies) {
  std::string text = fmt::format("{:<12}{:>8}{:>12}{:>12}{:>14}{:>14}{:>12}{:>10}\n", "", "tokens", "p50 ms",
                                 "p95 ms", "server ms", "transfer ms", "bytes", "limit ms");
  for (const Latency& row : latencies.rows)
    text += fmt::format("{:<12}{:>8}{:>12.2f}{:>12.2f}{:>14.2f}{:>14.2f}{:>12}{:>10}{}\n", row.what,
                        row.tokens, 1e3 * row.whole.p50, 1e3 * row.whole.p95, 1e3 * row.server.p50,
                        1e3 * (row.whole.p50 - row.server.p50), row.bytes,
                        row.limit ? fmt::format("{:.0f}", 1e3 * *row.limit) : "",
                        row.is_missed() ? "  missed" : "");
  return text;
}

}  // namespace sluice::serve
