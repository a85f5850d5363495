// A request and a response of HTTP/1.1, as far as the explorer needs them.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::serve {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;
  std::string path;         // decoded, without the query
  NamedTexts query = {};    // decoded
  NamedTexts headers = {};  // names in lower case
  std::string body = {};
  std::string address = {};  // of who asks: its network (listener.h)
  bool keep_alive = true;

  // Null if it is not there.
  const std::string* header(std::string_view lower_name) const;
  const std::string* parameter(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";  // of the body
  std::string body = {};
  NamedTexts headers = {};
};

// A request that is refused: the status and why. Other errors of the program have a status in
// error_response().
class HttpError : public std::exception {
 public:
  HttpError(int status, std::string message, std::string param = {})
      : status_(status), message_(std::move(message)), param_(std::move(param)) {}

  int status() const { return status_; }
  const std::string& param() const { return param_; }  // the key that is to blame; empty: none
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  int status_;
  std::string message_, param_;
};

// "Not Found"
std::string_view reason_of(int status);

// {"error": …}, as all paths have it.
HttpResponse error_response(const HttpError& error);

// Of whatever is being handled: call it in a catch block. What a bug threw is told as such.
HttpError current_error();

enum class BodyForm { Whole, Chunks };

// Status line and headers, with those that every answer has; a whole body is not part of it.
std::string head_of(const HttpResponse& response, BodyForm form, bool keep_alive);

// One chunk of a body that is sent in chunks; an empty one ends it.
std::string chunk_of(std::string_view bytes);

}  // namespace sluice::serve
