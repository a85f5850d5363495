#include "sluice/serve/map_format.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sluice/base/assert.h"
#include "sluice/base/json_text.h"
#include "sluice/io/f16.h"

namespace sluice::serve {
namespace {

static_assert(std::endian::native == std::endian::little, "values are written as they are in memory");

std::string half_bytes(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(uint16_t), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t bits = to_f16(values[i]).bits;
    std::memcpy(&bytes[i * sizeof bits], &bits, sizeof bits);
  }
  return bytes;
}

std::string_view type_name(MapType type) {
  switch (type) {
    case MapType::F32:
      return "f32";
    case MapType::F16:
      return "f16";
    case MapType::U8:
      break;
  }
  return "u8";
}

nlohmann::ordered_json place_json(const MapBlock::Map& map) {
  return {{"layer", map.layer},
          {"head", map.head ? nlohmann::ordered_json(*map.head) : nlohmann::ordered_json()},
          {"low", shortest_number(map.low)},
          {"high", shortest_number(map.high)},
          {"step", shortest_number(map.step)}};
}

}  // namespace

void MapBlock::add(const Map& place, const std::vector<float>& values) {
  SLUICE_ASSERT(std::ssize(values) == rows * columns, "map: {} values", values.size());
  Map& map = maps.emplace_back(place);
  const auto [lowest, highest] = std::ranges::minmax_element(values);
  map.low = *lowest;
  map.high = *highest;
  if (type == MapType::F32) {
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    return;
  }
  if (type == MapType::F16) {
    bytes += half_bytes(values);
    return;
  }
  map.step = (map.high - map.low) / 255.0F;
  const std::vector<uint8_t> codes = byte_codes(values, map.low, map.high);
  bytes.append(codes.begin(), codes.end());
}

void MapBlock::add(const Map& place, const Thumbnail& thumbnail) {
  SLUICE_ASSERT(type == MapType::U8 && thumbnail.rows == rows && thumbnail.columns == columns,
                "map: a thumbnail of {} × {}", thumbnail.rows, thumbnail.columns);
  Map& map = maps.emplace_back(place);
  map.low = thumbnail.low;
  map.high = thumbnail.high;
  map.step = thumbnail.step();
  bytes.append(thumbnail.codes.begin(), thumbnail.codes.end());
}

HttpResponse map_response(const MapBlock& block, std::string_view view, std::string_view kind) {
  nlohmann::ordered_json maps = nlohmann::ordered_json::array();
  for (const MapBlock::Map& map : block.maps) maps.push_back(place_json(map));
  std::string header = compact_text({{"view", view},
                                     {"kind", kind},
                                     {"type", type_name(block.type)},
                                     {"rows", block.rows},
                                     {"columns", block.columns},
                                     {"maps", std::move(maps)}});
  while ((8 + header.size()) % 8 != 0) header += ' ';
  const auto length = static_cast<uint32_t>(header.size());
  HttpResponse response{.type = "application/octet-stream", .body = "SLM1"};
  response.body.append(reinterpret_cast<const char*>(&length), sizeof length);
  response.body += header;
  response.body += block.bytes;
  return response;
}

}  // namespace sluice::serve
