// The page: every file of web/, built into the library. A path of a request is looked up in a table and never
// reaches a file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sluice/serve/http_message.h"

namespace sluice::serve {

struct Asset {
  std::string_view path;  // below web/: "explorer/map.js"
  std::string_view bytes;
};

// Defined in a source that the build makes from the files.
std::span<const Asset> assets();

// "/" is index.html, "/story" story.html or the index.html of a folder of that name. None if there is no such
// file.
const Asset* find_asset(std::string_view path);

std::string_view media_type(std::string_view path);

// Not modified if the browser has it already.
HttpResponse asset_response(const Asset& asset, const HttpRequest& request);

}  // namespace sluice::serve
