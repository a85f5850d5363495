// Entries are read from nodes and not from Json views: a view per element of a hostile list would cost a
// hundred times its text.
#include "sluice/io/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "sluice/base/error.h"
#include "sluice/base/json.h"
#include "sluice/base/json_path.h"

namespace sluice {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little endian");

constexpr size_t kLengthBytes = sizeof(uint64_t);
constexpr size_t kMaxDepth = 4;  // the deepest valid value, a dimension, is in three containers

using Node = nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";
constexpr size_t kShownBytes = 160;  // of a name; those of nested experts come near 100

// Far above any file, so that sums and products with element sizes fit 63 bits.
constexpr uint64_t kMaxCount = uint64_t{1} << 56;

struct Field {
  const Node& node;
  std::string where;  // file, tensor and key

  Error unexpected(std::string expected) const {
    return bad_input({.where = where, .expected = std::move(expected), .got = described(node)});
  }
};

Field member(const Field& entry, const char* key) {
  const auto found = entry.node.find(key);
  const std::string where = fmt::format("{}: {}", entry.where, key);
  if (found == entry.node.end()) throw bad_input({.where = where, .what = "required key is missing"});
  return {*found, where};
}

// An integer >= 0. nlohmann calls those unsigned; fractions and numbers from 2^64 are floats to it.
uint64_t natural(const Field& list, size_t index) {
  const Node& node = list.node[index];
  if (!node.is_number_unsigned()) {
    throw Field{node, element_path(list.where, index)}.unexpected("integer >= 0");
  }
  return node.get<uint64_t>();
}

StoredType read_dtype(const Field& field) {
  if (!field.node.is_string()) throw field.unexpected("string");
  const auto type = stored_type_named(field.node.get_ref<const std::string&>());
  if (!type) throw field.unexpected("a known type such as F32, BF16 or F16");
  return *type;
}

Shape read_shape(const Field& field) {
  if (!field.node.is_array()) throw field.unexpected("array");
  const size_t rank = field.node.size();
  if (rank > Shape::kMaxRank) {
    throw field.unexpected(fmt::format("at most {} dimensions", Shape::kMaxRank));
  }
  std::array<int64_t, Shape::kMaxRank> dims{};
  uint64_t count = 1;
  for (size_t axis = 0; axis < rank; ++axis) {
    const uint64_t dim = natural(field, axis);
    // Zeros count as ones here: whether a shape is absurd does not depend on where its zero stands.
    if (dim > kMaxCount / count) {
      throw bad_input({.where = field.where, .what = "too many elements", .got = field.node.dump()});
    }
    count *= std::max<uint64_t>(dim, 1);
    dims[axis] = static_cast<int64_t>(dim);
  }
  return Shape(std::span(dims).first(rank));
}

size_t read_offset(const Field& field, const TensorInfo& info, size_t data_bytes) {
  if (!field.node.is_array() || field.node.size() != 2) throw field.unexpected("an array of 2");
  const uint64_t begin = natural(field, 0);
  const uint64_t end = natural(field, 1);
  const std::string got = fmt::format("[{}, {}]", begin, end);
  if (begin > end) throw bad_input({.where = field.where, .expected = "begin <= end", .got = got});
  if (end > data_bytes) {
    throw bad_input({.where = field.where,
                     .expected = fmt::format("end <= {}, the bytes of data in the file", data_bytes),
                     .got = got,
                     .hint = "the file is cut short or damaged"});
  }
  if (end - begin != info.bytes()) {
    throw bad_input(
        {.where = field.where,
         .expected = fmt::format("{} bytes for {} {}", info.bytes(), name_of(info.dtype), info.shape.text()),
         .got = fmt::format("{}, {} bytes", got, end - begin)});
  }
  return begin;
}

SafetensorsEntry read_entry(const std::string& name, const Field& entry, size_t data_bytes) {
  if (!is_tensor_name(name)) throw bad_input({.where = entry.where, .what = "control character in the name"});
  if (!entry.node.is_object()) throw entry.unexpected("object");
  SafetensorsEntry result{.name = name, .info = {}, .offset = 0};
  result.info = {read_dtype(member(entry, "dtype")), read_shape(member(entry, "shape"))};
  result.offset = read_offset(member(entry, "data_offsets"), result.info, data_bytes);
  // All three keys are there, so that any further one is unknown: it could mean that the bytes are not plain.
  if (entry.node.size() != 3) throw entry.unexpected("dtype, shape and data_offsets alone");
  return result;
}

SafetensorsMetadata read_metadata(const Field& field) {
  if (!field.node.is_object()) throw field.unexpected("object");
  SafetensorsMetadata metadata;
  for (const auto& [key, value] : field.node.items()) {
    if (!value.is_string()) throw Field{value, member_path(field.where, key)}.unexpected("string");
    metadata.emplace(key, value.get_ref<const std::string&>());
  }
  return metadata;
}

// Offsets count from the first byte of data, of which the file has `data_bytes`.
SafetensorsHeader read_entries(const Json& json, size_t data_bytes, const std::string& file_name) {
  SafetensorsHeader header;
  for (const auto& [name, node] : json.node().items()) {
    if (name == kMetadata) {
      header.metadata = read_metadata({node, fmt::format("{}: {}", file_name, kMetadata)});
    } else {
      header.tensors.push_back(read_entry(name, {node, tensor_place(file_name, name)}, data_bytes));
    }
  }
  return header;
}

std::string_view stored_header_text(std::span<const std::byte> file, const std::string& file_name) {
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

std::string tensor_place(std::string_view file_name, std::string_view tensor_name) {
  const bool whole = tensor_name.size() <= kShownBytes;
  const std::string shown = std::string(tensor_name.substr(0, kShownBytes)) + (whole ? "" : "...");
  // ASCII only: a name must not be able to turn around or blank out the rest of the line.
  return fmt::format("{}: tensor {}", file_name,
                     Node(shown).dump(-1, ' ', true, Node::error_handler_t::replace));
}

bool is_tensor_name(std::string_view name) {
  const auto controls = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return name != kMetadata && std::none_of(name.begin(), name.end(), controls);
}

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file, const std::string& file_name) {
  const std::string_view text = stored_header_text(file, file_name);
  const Json json = parse_json(text, file_name);
  const size_t data_begin = kLengthBytes + text.size();
  SafetensorsHeader header = read_entries(json, file.size() - data_begin, file_name);
  for (SafetensorsEntry& each : header.tensors) each.offset += data_begin;
  check_coverage(header.tensors, data_begin, file.size(), file_name);
  return header;
}

}  // namespace sluice
