// Reads nodes and not Json views: a view per element of a hostile list would cost a hundred times its text.
#include "sluice/io/safetensors_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "sluice/base/error.h"
#include "sluice/base/json_path.h"

namespace sluice {
namespace {

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

}  // namespace sluice
