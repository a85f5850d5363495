#include "sluice/serve/server.h"
#include "sluice/serve/listener.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <condition_variable>

#include "tests/serve/running_server.h"

namespace sluice::serve {
namespace {

using namespace std::chrono_literals;

// A computation that runs until somebody opens the door, or until it is cancelled.
class Door {
 public:
  Computation computation() {
    return {.kind = "wait", .model = "none", .whole = [this](const Turn& turn) {
              begun_ = true;
              while (!open_) {
                if (turn.control.is_cancelled()) was_cancelled_ = true;
                turn.control.stop_if_cancelled();
                std::this_thread::sleep_for(1ms);
              }
              return HttpResponse{.body = "through"};
            }};
  }
  void open() { open_ = true; }
  bool begun() const { return begun_; }
  bool was_cancelled() const { return was_cancelled_; }

 private:
  std::atomic<bool> open_ = false, begun_ = false, was_cancelled_ = false;
};

// True if it becomes so within ten seconds.
template <class Condition>
bool eventually(const Condition& condition) {
  for (int i = 0; i < 10'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

Answer echo(const HttpRequest& request) {
  return HttpResponse{.type = "text/plain", .body = request.method + " " + request.path + " " + request.body};
}

TEST(Server, answers_several_requests_on_one_connection) {
  const RunningServer server(echo);
  HttpClient client = server.client();
  EXPECT_EQ(client.get("/one").body, "GET /one ");
  EXPECT_EQ(client.post_text("/two", "body").body, "POST /two body");
  client.send("GET /3 HTTP/1.1\r\nHost: h\r\n\r\nGET /4 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.receive().body, "GET /3 ");
  EXPECT_EQ(client.receive().body, "GET /4 ");
  EXPECT_TRUE(client.sees_end());
}

TEST(Server, sends_no_body_to_a_head_request) {
  const RunningServer server(echo);
  HttpClient client = server.client();
  client.send("HEAD /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  std::string all;
  const ClientResponse response = client.receive();  // waits for a body of that length, and the end comes
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.at("content-length"), "8");
  EXPECT_EQ(response.body, "");
}

TEST(Server, sends_bodies_again_after_a_head_request) {
  const RunningServer server(echo);
  HttpClient client = server.client();
  client.send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.receive_head().headers.at("content-length"), "8");
  EXPECT_EQ(client.get("/b").body, "GET /b ");
  client.send("HEAD /c HTTP/1.1\r\nHost: h\r\n\r\nnonsense\r\n\r\n");
  EXPECT_EQ(client.receive_head().status, 200);
  const ClientResponse refused = client.receive();
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.body.size(), std::stoul(refused.headers.at("content-length")));
  EXPECT_GT(refused.body.size(), 0U) << "why, to somebody who asked for no HEAD";
}

TEST(Server, sends_headers_that_keep_a_page_to_itself) {
  const RunningServer server(echo);
  const ClientResponse response = server.client().get("/");
  EXPECT_EQ(response.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(response.headers.at("cache-control"), "no-store");
  EXPECT_EQ(response.headers.at("content-security-policy").find("default-src 'self'"), 0U);
  EXPECT_EQ(response.headers.at("content-security-policy").find("unsafe"), std::string::npos);
}

TEST(Server, refuses_what_is_malformed_and_closes) {
  const RunningServer server(echo);
  HttpClient client = server.client();
  client.send("nonsense\r\n\r\n");
  EXPECT_EQ(client.receive().status, 400);
  EXPECT_TRUE(client.sees_end());
  HttpClient large = server.client();
  large.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999\r\n\r\n" + std::string(100'000, 'x'));
  EXPECT_EQ(large.receive().status, 413) << "it is told before all has arrived";
}

TEST(Server, tells_errors_of_handlers_and_goes_on) {
  const RunningServer server([](const HttpRequest& request) -> Answer {
    if (request.path == "/bad") throw bad_input({.what = "wrong"});
    if (request.path == "/failed") throw failure({.what = "broken"});
    throw HttpError(404, "gone", "path");
  });
  HttpClient client = server.client();
  EXPECT_EQ(client.get("/bad").status, 400);
  EXPECT_EQ(client.get("/failed").json()["error"]["type"], "server_error");
  const ClientResponse gone = client.get("/x");
  EXPECT_EQ(gone.status, 404);
  EXPECT_EQ(gone.json()["error"]["message"], "gone");
  EXPECT_EQ(gone.json()["error"]["param"], "path");
}

TEST(Server, cuts_off_a_request_that_takes_too_long_in_all) {
  ServerOptions options;
  options.connection.times.request = 300ms;
  const RunningServer server(echo, options);
  HttpClient client = server.client();
  // A byte now and then keeps a limit between bytes from ever being reached, but not a limit for the whole.
  const std::string request = "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(200, 'y');
  for (const char byte : request) {
    client.send({&byte, 1});
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(client.receive().status, 408);
  EXPECT_TRUE(client.sees_end());
}

TEST(Server, cuts_off_a_client_that_does_not_read) {
  ServerOptions options;
  options.connection.times.stalled = 100ms;
  RunningServer server([](const HttpRequest&) { return HttpResponse{.body = std::string(50'000'000, 'x')}; },
                       options);
  HttpClient client = server.client();
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return server.metrics().cut_off == 1; }));
  EXPECT_TRUE(client.sees_end());
}

TEST(Server, closes_what_is_idle_and_makes_room_for_others) {
  ServerOptions options;
  options.connections = 2;
  RunningServer server(echo, options);
  HttpClient first = server.client(), second = server.client();
  EXPECT_EQ(first.get("/").status, 200);
  EXPECT_EQ(second.get("/").status, 200);
  HttpClient third = server.client();
  EXPECT_EQ(third.get("/").status, 200);
  EXPECT_TRUE(first.sees_end()) << "it was idle for longest";
  EXPECT_EQ(second.get("/").status, 200);
}

TEST(Server, turns_away_who_comes_when_all_connections_are_busy) {
  ServerOptions options;
  options.connections = 1;
  Door door;
  RunningServer server([&](const HttpRequest&) { return door.computation(); }, options);
  HttpClient busy = server.client();
  busy.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return door.begun(); }));
  EXPECT_EQ(server.client().receive().status, 503);
  door.open();
  EXPECT_EQ(busy.receive().body, "through");
}

TEST(Server, cancels_the_work_of_a_client_that_goes_away) {
  Door door;
  RunningServer server([&](const HttpRequest& request) -> Answer {
    if (request.path == "/now") return HttpResponse{.body = "now"};
    return door.computation();
  });
  HttpClient running = server.client(), waiting = server.client();
  running.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return door.begun(); }));
  waiting.send("GET /b HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return server.queue().status().waiting.size() == 1; }));
  EXPECT_EQ(server.client().get("/now").body, "now") << "what is there already does not wait";
  waiting.close();
  EXPECT_TRUE(eventually([&] { return server.queue().status().waiting.empty(); }));
  running.close();
  EXPECT_TRUE(eventually([&] { return door.was_cancelled(); }));
  EXPECT_TRUE(eventually([&] { return !server.queue().status().running; }));
  door.open();
  EXPECT_EQ(server.client().get("/c").body, "through") << "the queue goes on";
  EXPECT_EQ(server.metrics().cancelled, 2);
}

TEST(Server, refuses_more_work_than_may_wait) {
  Door door;
  RunningServer server([&](const HttpRequest&) { return door.computation(); }, {}, {.waiting = 1});
  HttpClient first = server.client(), second = server.client(), third = server.client();
  first.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return door.begun(); }));
  second.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return server.queue().status().waiting.size() == 1; }));
  const ClientResponse refused = third.get("/");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
  door.open();
  EXPECT_EQ(first.receive().status, 200);
  EXPECT_EQ(second.receive().status, 200);
}

TEST(Server, ends_a_computation_that_takes_too_long) {
  Door door;
  RunningServer server([&](const HttpRequest&) { return door.computation(); }, {}, {.seconds = 0.02});
  EXPECT_EQ(server.client().get("/").status, 504);
}

TEST(Server, streams_events_and_keeps_the_connection) {
  RunningServer server([](const HttpRequest& request) -> Answer {
    if (request.path == "/after") return HttpResponse{.body = "after"};
    return Computation{.kind = "k", .model = "m", .stream = [](EventStream& events, const Turn&) {
                         events.send("token", "{\"a\":1}");
                         events.send("", "plain");
                         throw failure({.what = "broken"});
                       }};
  });
  HttpClient client = server.client();
  const ClientResponse response = client.get("/");
  EXPECT_EQ(response.headers.at("content-type"), "text/event-stream");
  EXPECT_EQ(response.body.find("event: token\ndata: {\"a\":1}\n\ndata: plain\n\nevent: error\ndata: {"), 0U)
      << response.body;
  EXPECT_EQ(client.get("/after").body, "after");
}

TEST(Server, tells_clients_of_one_address_apart_by_the_name_they_give) {
  const auto client_named = [](const std::string& name) {
    return client_of(
        {.method = "GET", .path = "/", .headers = {{"x-sluice-client", name}}, .address = "1.2.3.4"});
  };
  const QueueClient unnamed{.peer = "1.2.3.4"}, tab{.peer = "1.2.3.4", .name = "tab-1"};
  EXPECT_EQ(client_named("tab-1"), tab);
  EXPECT_EQ(client_named(""), unnamed);
  EXPECT_EQ(client_named("a b"), unnamed);
  EXPECT_EQ(client_named(std::string(65, 'a')), unnamed);
}

// Otherwise a client would get more turns by connecting from more of the addresses that are its own.
TEST(Server, takes_addresses_that_one_client_can_choose_among_for_one) {
  EXPECT_EQ(network_of("127.0.0.1"), network_of("127.200.3.4"));
  EXPECT_EQ(network_of("127.0.0.1"), network_of("::1"));
  EXPECT_EQ(network_of("127.0.0.1"), network_of("::ffff:127.0.0.2"));
  EXPECT_EQ(network_of("2001:db8:1:2::5"), network_of("2001:db8:1:2:ffff::1"));
  EXPECT_NE(network_of("2001:db8:1:2::5"), network_of("2001:db8:1:3::5"));
  EXPECT_NE(network_of("192.0.2.1"), network_of("192.0.2.2"));
  EXPECT_EQ(network_of("192.0.2.1"), network_of("::ffff:192.0.2.1"));
}

}  // namespace
}  // namespace sluice::serve
