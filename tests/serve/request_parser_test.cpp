#include "sluice/serve/request_parser.h"

#include <gtest/gtest.h>

#include "sluice/base/random.h"

namespace sluice::serve {
namespace {

constexpr const char* kPlainRequest = "GET /a?b=c HTTP/1.1\r\nHost: localhost\r\n\r\n";

// The status that the bytes are refused with; 200 if they are a request, 0 if they are not complete.
int status_of(std::string_view bytes, HttpLimits limits = {}) {
  RequestParser parser(limits);
  try {
    parser.add(bytes);
    return parser.next() ? 200 : 0;
  } catch (const HttpError& error) {
    return error.status();
  }
}

std::string with_header(const std::string& header) {
  return "GET / HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n\r\n";
}

TEST(RequestParser, reads_method_path_query_and_headers) {
  RequestParser parser;
  parser.add("GET /a%20b?x=1+2&y=%41&z HTTP/1.1\r\nHOST: localhost:80\r\nX-Some:  value \r\n\r\n");
  const std::optional<HttpRequest> request = parser.next();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "GET");
  EXPECT_EQ(request->path, "/a b");
  EXPECT_EQ(*request->parameter("x"), "1 2");
  EXPECT_EQ(*request->parameter("y"), "A");
  EXPECT_EQ(*request->parameter("z"), "");
  EXPECT_EQ(request->parameter("w"), nullptr);
  EXPECT_EQ(*request->header("host"), "localhost:80");
  EXPECT_EQ(*request->header("x-some"), "value");
  EXPECT_TRUE(request->keep_alive);
  EXPECT_TRUE(parser.is_empty());
}

TEST(RequestParser, takes_a_request_byte_by_byte_and_one_behind_the_other) {
  const std::string two =
      "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
      "GET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
  RequestParser parser;
  std::vector<HttpRequest> requests;
  for (const char byte : two) {
    parser.add({&byte, 1});
    while (const std::optional<HttpRequest> request = parser.next()) requests.push_back(*request);
  }
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].body, "abc");
  EXPECT_EQ(requests[1].path, "/b");
  EXPECT_FALSE(requests[1].keep_alive);
}

TEST(RequestParser, refuses_what_is_not_plainly_http) {
  EXPECT_EQ(status_of(kPlainRequest), 200);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\nHost: h\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/2\r\nHost: h\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET /\r\nHost: h\r\n\r\n"), 400);
  EXPECT_EQ(status_of("\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET  / HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /%0 HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /%00 HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400) << "no Host";
  EXPECT_EQ(status_of(with_header("Host: other")), 400) << "two of them";
  EXPECT_EQ(status_of(with_header(" folded: x")), 400);
  EXPECT_EQ(status_of(with_header("no colon")), 400);
  EXPECT_EQ(status_of(with_header("name : x")), 400);
  EXPECT_EQ(status_of(with_header("name: a\nb: c")), 400);
  EXPECT_EQ(status_of(with_header(std::string("name: a\0b", 9))), 400);
}

TEST(RequestParser, refuses_bodies_whose_end_is_not_certain) {
  const auto post = [](const std::string& headers) {
    return status_of("POST / HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n");
  };
  EXPECT_EQ(post(""), 411);
  EXPECT_EQ(post("Transfer-Encoding: chunked\r\n"), 501);
  EXPECT_EQ(post("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"), 501);
  EXPECT_EQ(post("Content-Length: 1\r\nContent-Length: 1\r\n"), 400);
  EXPECT_EQ(post("Content-Length: -1\r\n"), 400);
  EXPECT_EQ(post("Content-Length: +1\r\n"), 400);
  EXPECT_EQ(post("Content-Length: 1x\r\n"), 400);
  EXPECT_EQ(post("Content-Length: 99999999999999999999999\r\n"), 413);
  EXPECT_EQ(post("Content-Length: 1048577\r\n"), 413);
  EXPECT_EQ(post("Content-Length: 1048576\r\n"), 0) << "the largest that is taken; it waits for the body";
}

TEST(RequestParser, has_a_limit_for_headers) {
  EXPECT_EQ(status_of("GET /" + std::string(20'000, 'a')), 431) << "before the end has come";
  EXPECT_EQ(status_of(with_header("x: " + std::string(20'000, 'a'))), 431);
  std::string many;
  for (int i = 0; i < 80; ++i) many += "x: y\r\n";
  EXPECT_EQ(status_of(with_header(many + "z: z")), 431);
}

// Whatever comes, it is a request, not complete, or refused; a broken one never is taken for complete with
// another body.
TEST(RequestParser, survives_random_and_broken_bytes) {
  const std::string sound =
      "POST /api/v1/view?x=%41 HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 5\r\nA: b\r\n\r\nhello";
  for (uint64_t round = 0; round < 3000; ++round) {
    const Random random(7, round);
    std::string bytes = sound;
    for (uint64_t change = 0; change < 1 + random.below(0, 6); ++change) {
      const auto at = static_cast<size_t>(random.below(10 + change, bytes.size()));
      const auto byte = static_cast<char>(random.below(20 + change, 256));
      switch (random.below(30 + change, 3)) {
        case 0:
          bytes[at] = byte;
          break;
        case 1:
          bytes.erase(at, 1 + random.below(40 + change, 8));
          break;
        default:
          bytes.insert(at, 1 + random.below(50 + change, 3), byte);
      }
    }
    const int status = status_of(bytes, {.head_bytes = 200});
    EXPECT_TRUE(status == 0 || status == 200 || (status >= 400 && status < 506)) << status;
  }
}

}  // namespace
}  // namespace sluice::serve
