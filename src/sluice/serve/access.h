// Who may ask: no foreign names that point here, no foreign pages, and nobody without the token where there
// is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/serve/http_message.h"

namespace sluice::serve {

struct AccessRules {
  std::string host;  // that is listened at
  uint16_t port = 0;
  std::string token = {};  // empty: none is needed
};

// Throws an HttpError of status 400, 401 or 403.
void check_access(const HttpRequest& request, const AccessRules& rules);

// A browser that comes with the token in its address gets it as a cookie, and the address without it.
std::optional<HttpResponse> token_exchange(const HttpRequest& request, const AccessRules& rules);

// 32 hexadecimal digits that nobody can guess.
std::string random_token();

// Takes the same time wherever the two differ.
bool equal_secrets(std::string_view a, std::string_view b);

}  // namespace sluice::serve
