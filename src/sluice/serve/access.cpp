#include "sluice/serve/access.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>

#include "sluice/base/error.h"
#include "sluice/serve/request_parser.h"

namespace sluice::serve {
namespace {

constexpr std::string_view kCookie = "sluice_token";

bool is_address(const std::string& host) {
  std::array<char, sizeof(in6_addr)> bytes = {};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

struct HostAndPort {
  std::string host;  // of IPv6 without its brackets
  std::string port;  // empty: the usual one
};

HostAndPort split(std::string_view text) {
  if (text.starts_with('[')) {
    const size_t end = std::min(text.find(']'), text.size());
    const std::string_view rest = text.substr(std::min(end + 1, text.size()));
    return {std::string(text.substr(1, end - 1)), std::string(rest.substr(rest.starts_with(':') ? 1 : 0))};
  }
  const size_t colon = std::min(text.find(':'), text.size());
  return {std::string(text.substr(0, colon)), std::string(text.substr(std::min(colon + 1, text.size())))};
}

// A name can be made to point anywhere, an address cannot.
bool is_own_host(const std::string& text, const AccessRules& rules) {
  const HostAndPort named = split(text);
  const uint16_t port = rules.port;
  if (named.port != std::to_string(port) && !(named.port.empty() && port == 80)) return false;
  if (named.host == "localhost" || named.host == rules.host) return true;
  const bool anywhere = rules.host == "0.0.0.0" || rules.host == "::";
  return anywhere ? is_address(named.host) : named.host == "127.0.0.1" || named.host == "::1";
}

// "a=1; b=2"
std::string_view cookie_of(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view cookie = cookies.substr(0, end);
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    cookie.remove_prefix(std::min(cookie.find_first_not_of(' '), cookie.size()));
    if (cookie.starts_with(name) && cookie.substr(name.size()).starts_with('='))
      return cookie.substr(name.size() + 1);
  }
  return {};
}

bool has_token(const HttpRequest& request, const std::string& token) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string* authorization = request.header("authorization");
  if (authorization != nullptr && authorization->starts_with(kBearer) &&
      equal_secrets(std::string_view(*authorization).substr(kBearer.size()), token))
    return true;
  const std::string* cookies = request.header("cookie");
  return cookies != nullptr && equal_secrets(cookie_of(*cookies, kCookie), percent_encoded(token));
}

bool is_interface(const std::string& path) {
  return path.starts_with("/api/") || path.starts_with("/v1/");
}

}  // namespace

bool equal_secrets(std::string_view a, std::string_view b) {
  unsigned different = a.size() == b.size() ? 0U : 1U;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return different == 0;
}

void check_access(const HttpRequest& request, const AccessRules& rules) {
  const std::string* host = request.header("host");
  if (host == nullptr || !is_own_host(*host, rules)) throw HttpError(403, "this Host is not served here");
  const std::string* origin = request.header("origin");
  if (origin != nullptr && *origin != "http://" + *host)
    throw HttpError(403, "pages from elsewhere may not ask");
  const std::string* site = request.header("sec-fetch-site");
  if (site != nullptr && *site == "cross-site" && is_interface(request.path))
    throw HttpError(403, "pages from elsewhere may not ask");
  if (!rules.token.empty() && !has_token(request, rules.token))
    throw HttpError(401,
                    "a token is needed: open the address that sluice explore printed, or send "
                    "Authorization: Bearer TOKEN");
}

std::optional<HttpResponse> token_exchange(const HttpRequest& request, const AccessRules& rules) {
  const std::string* token = request.parameter("token");
  if (rules.token.empty() || token == nullptr || request.method != "GET" || is_interface(request.path))
    return {};
  const std::string* host = request.header("host");
  if (host == nullptr || !is_own_host(*host, rules) || !equal_secrets(*token, rules.token)) return {};
  return HttpResponse{.status = 303,
                      .type = "text/plain; charset=utf-8",
                      .headers = {{"Location", request.path == "/story" ? "/story" : "/"},
                                  {"Set-Cookie", fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/",
                                                             kCookie, percent_encoded(rules.token))}}};
}

std::string random_token() {
  std::array<unsigned char, 16> bytes = {};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw failure({.what = "the system has no random numbers"});
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace sluice::serve
