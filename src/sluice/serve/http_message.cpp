#include "sluice/serve/http_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"

namespace sluice::serve {
namespace {

struct StatusText {
  int status;
  const char* reason;
  const char* type;  // of the error, in the words of OpenAI's interface
};

constexpr StatusText kStatuses[] = {
    {200, "OK", ""},
    {303, "See Other", ""},
    {304, "Not Modified", ""},
    {400, "Bad Request", "invalid_request_error"},
    {401, "Unauthorized", "authentication_error"},
    {403, "Forbidden", "permission_error"},
    {404, "Not Found", "invalid_request_error"},
    {405, "Method Not Allowed", "invalid_request_error"},
    {408, "Request Timeout", "timeout_error"},
    {411, "Length Required", "invalid_request_error"},
    {413, "Content Too Large", "invalid_request_error"},
    {415, "Unsupported Media Type", "invalid_request_error"},
    {431, "Request Header Fields Too Large", "invalid_request_error"},
    {500, "Internal Server Error", "server_error"},
    {501, "Not Implemented", "invalid_request_error"},
    {503, "Service Unavailable", "overloaded_error"},
    {504, "Gateway Timeout", "timeout_error"},
    {505, "HTTP Version Not Supported", "invalid_request_error"},
};

const StatusText& status_text(int status) {
  const auto* found = std::ranges::find(kStatuses, status, &StatusText::status);
  SLUICE_ASSERT(found != std::end(kStatuses), "http: a status without a text, {}", status);
  return *found;
}

const std::string* find_text(const NamedTexts& texts, std::string_view name) {
  const auto found = std::ranges::find(texts, name, &NamedTexts::value_type::first);
  return found == texts.end() ? nullptr : &found->second;
}

// Nothing is loaded from elsewhere, and no script or style stands in the page itself. Pictures that the page
// has drawn are data or blobs.
constexpr const char* kPolicy =
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

}  // namespace

const std::string* HttpRequest::header(std::string_view lower_name) const {
  return find_text(headers, lower_name);
}

const std::string* HttpRequest::parameter(std::string_view name) const {
  return find_text(query, name);
}

std::string_view reason_of(int status) {
  return status_text(status).reason;
}

HttpResponse error_response(const HttpError& error) {
  const nlohmann::ordered_json json = {
      {"error",
       {{"message", error.what()},
        {"type", status_text(error.status()).type},
        {"param", error.param().empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(error.param())},
        {"code", nullptr}}}};
  HttpResponse response{.status = error.status(),
                        .body = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
  if (error.status() == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpError current_error() {
  try {
    throw;
  } catch (const HttpError& error) {
    return error;
  } catch (const Error& error) {
    const bool theirs = error.kind() == ErrorKind::Usage || error.kind() == ErrorKind::BadInput;
    return {theirs ? 400 : 500, error.what()};
  } catch (const AssertionError& error) {
    return {500, fmt::format("a bug in sluice, please report it: {}", error.what())};
  } catch (const std::exception& error) {
    return {500, error.what()};
  }
}

std::string head_of(const HttpResponse& response, BodyForm form, bool keep_alive) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  const auto add = [&](std::string_view name, std::string_view value) {
    head += fmt::format("{}: {}\r\n", name, value);
  };
  add("Content-Type", response.type);
  if (form == BodyForm::Chunks) {
    add("Transfer-Encoding", "chunked");
  } else {
    add("Content-Length", std::to_string(response.body.size()));
  }
  if (!keep_alive) add("Connection", "close");
  add("X-Content-Type-Options", "nosniff");
  add("Content-Security-Policy", kPolicy);
  add("Referrer-Policy", "no-referrer");
  add("Cross-Origin-Resource-Policy", "same-origin");
  add("Cross-Origin-Opener-Policy", "same-origin");
  for (const auto& [name, value] : response.headers) add(name, value);
  if (find_text(response.headers, "Cache-Control") == nullptr) add("Cache-Control", "no-store");
  return head + "\r\n";
}

std::string chunk_of(std::string_view bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

}  // namespace sluice::serve
