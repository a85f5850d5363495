#include "sluice/io/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>
#include <utility>

#include "sluice/base/error.h"
#include "sluice/base/json.h"
#include "sluice/io/safetensors_entry.h"

namespace sluice {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little endian");

constexpr size_t kLengthBytes = sizeof(uint64_t);
constexpr size_t kMaxDepth = 4;  // the deepest valid value, a dimension, is in three containers

std::string_view header_text(std::span<const std::byte> file, const std::string& file_name) {
  if (file.size() < kLengthBytes) {
    throw bad_input({.where = file_name,
                     .what = "not a safetensors file",
                     .expected = fmt::format("at least {} bytes", kLengthBytes),
                     .got = fmt::format("{} bytes", file.size())});
  }
  uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMaxSafetensorsHeader || length > file.size() - kLengthBytes) {
    const size_t most = std::min(kMaxSafetensorsHeader, file.size() - kLengthBytes);
    throw bad_input({.where = file_name + ": header length",
                     .expected = fmt::format("at most {}", most),
                     .got = fmt::format("{}", length),
                     .hint = "the file is cut short or not a safetensors file"});
  }
  return {reinterpret_cast<const char*>(file.data()) + kLengthBytes, static_cast<size_t>(length)};
}

Json parse_json(std::string_view text, const std::string& file_name) {
  const std::string place = file_name + ": header";
  if (!text.starts_with('{')) {  // the format says so; it keeps byte-order marks and blank headers out
    throw bad_input({.where = place, .expected = "a JSON object", .got = "other bytes"});
  }
  if (text.find('\0') != std::string_view::npos) {  // to some parsers the end of the text
    throw bad_input({.where = place, .what = "invalid JSON: zero byte"});
  }
  return Json::parse(text, place, {.bytes = kMaxSafetensorsHeader, .depth = kMaxDepth});
}

// Sorts by place in the file and refuses overlaps and gaps: bytes that no tensor owns could hide anything,
// and a writer that left them miscounted.
void check_coverage(std::vector<SafetensorsEntry>& tensors, size_t data_begin, size_t file_size,
                    const std::string& file_name) {
  const auto place = [](const SafetensorsEntry& each) {
    return std::make_tuple(each.offset, each.info.bytes(), std::string_view(each.name));
  };
  std::sort(tensors.begin(), tensors.end(),
            [&](const auto& left, const auto& right) { return place(left) < place(right); });
  size_t covered = data_begin;
  for (const SafetensorsEntry& each : tensors) {
    if (each.offset != covered) {
      throw bad_input({.where = tensor_place(file_name, each.name) + ": data_offsets",
                       .what = each.offset < covered ? "overlaps another tensor" : "leaves a hole before it",
                       .expected = fmt::format("begin {}", covered - data_begin),
                       .got = fmt::format("{}", each.offset - data_begin)});
    }
    covered += each.info.bytes();
  }
  if (covered != file_size) {
    throw bad_input({.where = file_name,
                     .what = "bytes after the last tensor",
                     .expected = fmt::format("a file of {} bytes", covered),
                     .got = fmt::format("{}", file_size)});
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file, const std::string& file_name) {
  const std::string_view text = header_text(file, file_name);
  const Json json = parse_json(text, file_name);
  const size_t data_begin = kLengthBytes + text.size();
  SafetensorsHeader header = read_entries(json, file.size() - data_begin, file_name);
  for (SafetensorsEntry& each : header.tensors) each.offset += data_begin;
  check_coverage(header.tensors, data_begin, file.size(), file_name);
  return header;
}

}  // namespace sluice
