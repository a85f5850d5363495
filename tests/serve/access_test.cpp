#include "sluice/serve/access.h"

#include <gtest/gtest.h>

#include "sluice/base/error.h"
#include "sluice/serve/listener.h"
#include "sluice/serve/request_parser.h"

namespace sluice::serve {
namespace {

int access_status(const NamedTexts& headers, const AccessRules& rules,
                  const std::string& path = "/api/v1/view") {
  try {
    check_access({.method = "GET", .path = path, .headers = headers}, rules);
    return 200;
  } catch (const HttpError& error) {
    return error.status();
  }
}

const AccessRules kOwn{.host = "127.0.0.1", .port = 8080};

TEST(Access, takes_this_machine_by_its_addresses_alone) {
  for (const char* host : {"localhost:8080", "127.0.0.1:8080", "[::1]:8080"})
    EXPECT_EQ(access_status({{"host", host}}, kOwn), 200) << host;
  for (const char* host : {"evil.example:8080", "localhost", "localhost:80", "127.0.0.1.evil.example:8080",
                           "192.168.0.1:8080", "", ":8080", "[", "[]:8080", "localhost:8080:8080"})
    EXPECT_EQ(access_status({{"host", host}}, kOwn), 403) << host;
  EXPECT_EQ(access_status({}, kOwn), 403);
}

TEST(Access, takes_any_address_but_no_name_where_it_listens_everywhere) {
  const AccessRules rules{.host = "0.0.0.0", .port = 80};
  for (const char* host : {"192.168.0.1:80", "192.168.0.1", "localhost:80", "[fe80::1]:80"})
    EXPECT_EQ(access_status({{"host", host}}, rules), 200) << host;
  EXPECT_EQ(access_status({{"host", "evil.example:80"}}, rules), 403);
}

TEST(Access, refuses_foreign_pages) {
  const auto with_origin = [](const char* origin) {
    return access_status({{"host", "localhost:8080"}, {"origin", origin}}, kOwn);
  };
  EXPECT_EQ(with_origin("http://localhost:8080"), 200);
  for (const char* origin : {"http://evil.example", "null", "https://localhost:8080", "http://localhost:8081",
                             "http://127.0.0.1:8080", "http://localhost:8080.evil.example"})
    EXPECT_EQ(with_origin(origin), 403) << origin;
  const NamedTexts cross = {{"host", "localhost:8080"}, {"sec-fetch-site", "cross-site"}};
  EXPECT_EQ(access_status(cross, kOwn), 403);
  EXPECT_EQ(access_status(cross, kOwn, "/"), 200) << "a link to the page is harmless";
}

TEST(Access, needs_the_token_where_there_is_one) {
  const AccessRules rules{.host = "127.0.0.1", .port = 8080, .token = "secret"};
  const auto with = [&](const char* name, const char* value) {
    return access_status({{"host", "localhost:8080"}, {name, value}}, rules);
  };
  EXPECT_EQ(with("x", "y"), 401);
  EXPECT_EQ(with("authorization", "Bearer secret"), 200);
  EXPECT_EQ(with("authorization", "Bearer secrets"), 401);
  EXPECT_EQ(with("authorization", "Bearer "), 401);
  EXPECT_EQ(with("authorization", "secret"), 401);
  EXPECT_EQ(with("cookie", "a=b; sluice_token=secret"), 200);
  EXPECT_EQ(with("cookie", "sluice_token=other; sluice_tokens=secret"), 401);
}

TEST(Access, exchanges_the_token_of_an_address_for_a_cookie) {
  const AccessRules rules{.host = "127.0.0.1", .port = 8080, .token = "secret"};
  HttpRequest request{.method = "GET", .path = "/story", .query = {{"token", "secret"}}};
  request.headers = {{"host", "localhost:8080"}};
  const std::optional<HttpResponse> response = token_exchange(request, rules);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 303);
  EXPECT_EQ(response->headers[0].second, "/story");
  EXPECT_NE(response->headers[1].second.find("HttpOnly; SameSite=Strict"), std::string::npos);
  request.query = {{"token", "wrong"}};
  EXPECT_FALSE(token_exchange(request, rules));
  EXPECT_FALSE(token_exchange(request, {.host = "127.0.0.1", .port = 8080}));
}

TEST(Access, takes_tokens_of_any_letters) {
  const std::string token = "a b&c=d;e%f+g\r\nSet-Cookie: x";
  const AccessRules rules{.host = "127.0.0.1", .port = 8080, .token = token};
  HttpRequest request{.method = "GET", .path = "/", .query = {{"token", token}}};
  request.headers = {{"host", "localhost:8080"}};
  const std::optional<HttpResponse> response = token_exchange(request, rules);
  ASSERT_TRUE(response);
  const std::string cookie = response->headers[1].second;
  EXPECT_EQ(cookie.find("sluice_token=a%20b%26c%3Dd%3Be%25f%2Bg%0D%0ASet-Cookie%3A%20x; HttpOnly"), 0U);
  const std::string sent = cookie.substr(0, cookie.find(';'));
  EXPECT_EQ(access_status({{"host", "localhost:8080"}, {"cookie", sent}}, rules), 200);
  EXPECT_EQ(percent_decoded(percent_encoded(token), PlusSign::Space), token);
}

TEST(Access, makes_tokens_that_differ) {
  EXPECT_EQ(random_token().size(), 32U);
  EXPECT_NE(random_token(), random_token());
}

TEST(Listener, knows_which_addresses_are_of_this_machine) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "::1", "localhost"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"0.0.0.0", "192.168.0.1", "::"}) EXPECT_FALSE(is_loopback(host)) << host;
  EXPECT_THROW(is_loopback("example.org"), Error);
}

}  // namespace
}  // namespace sluice::serve
