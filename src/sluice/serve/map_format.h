// Maps as bytes: a small header in JSON, then the values (docs/http.md, "Map and grid").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/analysis/prompt_thumbnail.h"
#include "sluice/serve/http_message.h"

namespace sluice::serve {

enum class MapType { F32, F16, U8 };

struct MapBlock {
  int64_t rows = 0, columns = 0;

  struct Map {
    int64_t layer = 0;
    std::optional<int64_t> head = {};  // none: of all heads
    float low = 0, high = 0, step = 0;
  };
  std::vector<Map> maps = {};
  MapType type = MapType::F16;
  std::string bytes = {};  // of all maps, one after the other

  // All maps of a block have the same rows and columns.
  void add(const Map& place, const std::vector<float>& values);
  void add(const Map& place, const Thumbnail& thumbnail);
};

HttpResponse map_response(const MapBlock& block, std::string_view view, std::string_view kind);

}  // namespace sluice::serve
