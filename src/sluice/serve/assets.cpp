#include "sluice/serve/assets.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/sha256.h"

namespace sluice::serve {
namespace {

struct MediaType {
  std::string_view ending, type;
};

constexpr MediaType kMediaTypes[] = {{".html", "text/html; charset=utf-8"},
                                     {".css", "text/css; charset=utf-8"},
                                     {".js", "text/javascript; charset=utf-8"},
                                     {".mjs", "text/javascript; charset=utf-8"},
                                     {".json", "application/json"},
                                     {".svg", "image/svg+xml"},
                                     {".png", "image/png"},
                                     {".ico", "image/x-icon"},
                                     {".woff2", "font/woff2"},
                                     {".txt", "text/plain; charset=utf-8"}};

const Asset* asset_at(std::string_view path) {
  const std::span<const Asset> all = assets();
  const auto found = std::ranges::find(all, path, &Asset::path);
  return found == all.end() ? nullptr : &*found;
}

std::string entity_tag(std::string_view bytes) {
  std::string tag = "\"";
  const Sha256 digest = sha256(bytes);
  for (size_t i = 0; i < 8; ++i) tag += fmt::format("{:02x}", digest[i]);
  return tag + "\"";
}

}  // namespace

const Asset* find_asset(std::string_view path) {
  if (!path.starts_with('/')) return nullptr;
  path.remove_prefix(1);
  if (path.empty()) return asset_at("index.html");
  if (const Asset* asset = asset_at(path)) return asset;
  if (path.ends_with('/')) path.remove_suffix(1);
  if (const Asset* asset = asset_at(fmt::format("{}.html", path))) return asset;
  return asset_at(fmt::format("{}/index.html", path));
}

std::string_view media_type(std::string_view path) {
  for (const MediaType& each : kMediaTypes)
    if (path.ends_with(each.ending)) return each.type;
  return "application/octet-stream";
}

HttpResponse asset_response(const Asset& asset, const HttpRequest& request) {
  const std::string tag = entity_tag(asset.bytes);
  HttpResponse response{.type = std::string(media_type(asset.path)),
                        .headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}}};
  const std::string* known = request.header("if-none-match");
  if (known != nullptr && known->find(tag) != std::string::npos) {
    response.status = 304;
  } else {
    response.body = asset.bytes;
  }
  return response;
}

}  // namespace sluice::serve
