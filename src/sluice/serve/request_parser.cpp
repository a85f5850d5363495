#include "sluice/serve/request_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sluice::serve {
namespace {

constexpr std::string_view kLineEnd = "\r\n", kHeadEnd = "\r\n\r\n";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// RFC 9110, 5.6.2
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_letter_or_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The part before the separator, which is taken away together with it; all if there is none.
std::string_view take_until(std::string_view& text, std::string_view separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
  return part;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void read_target(std::string_view target, HttpRequest& request) {
  const auto is_visible = [](char c) { return c > ' ' && c < '\x7f'; };
  if (!target.starts_with('/') || !std::ranges::all_of(target, is_visible))
    throw HttpError(400, "the request's target is not a path");
  const auto decoded = [](std::string_view text, PlusSign plus) {
    const std::optional<std::string> result = percent_decoded(text, plus);
    if (!result) throw HttpError(400, "the request's target has a broken escape");
    return *result;
  };
  request.path = decoded(take_until(target, "?"), PlusSign::Plus);
  while (!target.empty()) {
    std::string_view value = take_until(target, "&");
    const std::string_view name = take_until(value, "=");
    request.query.emplace_back(decoded(name, PlusSign::Space), decoded(value, PlusSign::Space));
  }
}

void read_request_line(std::string_view line, HttpRequest& request) {
  const std::string_view method = take_until(line, " "), target = take_until(line, " ");
  if (!is_token(method) || method.size() > 16) throw HttpError(400, "the request has no method");
  if (!line.starts_with("HTTP/")) throw HttpError(400, "the request line does not end with a version");
  if (line != "HTTP/1.1") throw HttpError(505, "only HTTP/1.1 is spoken here");
  request.method = method;
  read_target(target, request);
}

void read_header(std::string_view line, HttpRequest& request) {
  const size_t colon = line.find(':');
  const std::string_view value = trimmed(line.substr(std::min(colon, line.size() - 1) + 1));
  const bool is_text = std::ranges::all_of(
      value, [](char c) { return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f'); });
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) || !is_text)
    throw HttpError(400, "a header is malformed");
  std::string name = lower(line.substr(0, colon));
  // Which of two would count is what attacks on servers behind each other are made of.
  if ((name == "host" || name == "content-length" || name == "origin") && request.header(name) != nullptr)
    throw HttpError(400, "a header that may be there once is there twice");
  request.headers.emplace_back(std::move(name), value);
}

size_t body_length(const HttpRequest& request, size_t limit) {
  if (request.header("transfer-encoding") != nullptr)
    throw HttpError(501, "transfer encodings are not understood: send a Content-Length");
  const std::string* text = request.header("content-length");
  if (text == nullptr) {
    if (request.method == "POST") throw HttpError(411, "a body needs a Content-Length");
    return 0;
  }
  size_t length = 0;
  const char* end = text->data() + text->size();
  const auto [stop, problem] = std::from_chars(text->data(), end, length);
  if (problem == std::errc::result_out_of_range || (problem == std::errc() && length > limit))
    throw HttpError(413, "the body is too large");
  if (problem != std::errc() || stop != end) throw HttpError(400, "the Content-Length is not a number");
  return length;
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool stays = is_letter_or_digit(c) || std::string_view("-._~").find(c) != std::string_view::npos;
    result += stays ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

std::optional<std::string> percent_decoded(std::string_view text, PlusSign plus) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == PlusSign::Space) {
      result += ' ';
    } else if (text[i] != '%') {
      result += text[i];
    } else {
      if (i + 2 >= text.size()) return {};
      const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0 || high + low == 0) return {};
      result += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return result;
}

// Whether there is one now.
bool RequestParser::read_head() {
  // The end may have begun in what was searched already.
  const size_t end = buffer_.find(kHeadEnd, searched_ < kHeadEnd.size() ? 0 : searched_ - kHeadEnd.size());
  searched_ = buffer_.size();
  if (std::min(end, buffer_.size()) > limits_.head_bytes)
    throw HttpError(431, "request line and headers are too large");
  if (end == std::string::npos) return false;
  std::string_view head = std::string_view(buffer_).substr(0, end);
  HttpRequest request;
  read_request_line(take_until(head, kLineEnd), request);
  while (!head.empty()) {
    if (request.headers.size() == limits_.headers) throw HttpError(431, "too many headers");
    read_header(take_until(head, kLineEnd), request);
  }
  if (request.header("host") == nullptr) throw HttpError(400, "the request names no Host");
  body_bytes_ = body_length(request, limits_.body_bytes);
  const std::string* connection = request.header("connection");
  request.keep_alive = connection == nullptr || lower(*connection).find("close") == std::string::npos;
  buffer_.erase(0, end + kHeadEnd.size());
  searched_ = 0;
  head_ = std::move(request);
  return true;
}

std::optional<HttpRequest> RequestParser::next() {
  if (!head_ && !read_head()) return {};
  if (buffer_.size() < body_bytes_) return {};
  head_->body = buffer_.substr(0, body_bytes_);
  buffer_.erase(0, body_bytes_);
  return std::exchange(head_, std::nullopt);
}

}  // namespace sluice::serve
