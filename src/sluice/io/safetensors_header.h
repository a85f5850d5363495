// The header of a safetensors file: what tensors there are, of which type and shape, and where. The bytes are
// a stranger's; what comes out of here has been checked against the size of the file.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/io/stored_type.h"
#include "sluice/tensor/shape.h"

namespace sluice {

// The limit of the format's reference implementation. Headers of published models have up to some ten MB.
inline constexpr size_t kMaxSafetensorsHeader = 100'000'000;

using SafetensorsMetadata = std::map<std::string, std::string>;

struct TensorInfo {
  StoredType dtype = StoredType::F32;
  Shape shape;

  size_t bytes() const { return static_cast<size_t>(shape.count()) * size_of(dtype); }
  bool operator==(const TensorInfo&) const = default;
};

struct SafetensorsEntry {
  std::string name;
  TensorInfo info;
  size_t offset = 0;  // of its first byte in the file; any alignment
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;  // as their data lie in the file; empty ones of one place by name
  SafetensorsMetadata metadata;
};

// `file` is the whole file, of which only the header is read. Bad input: anything that the format forbids,
// and that includes bytes that belong to no tensor or to two, unknown keys and types, more dimensions than
// Shape has, control characters in names. Messages begin with `file_name`.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file, const std::string& file_name);

// `file: tensor "name"`: how every message about a tensor begins.
std::string tensor_place(std::string_view file_name, std::string_view tensor_name);

// Names that no message, table or terminal can be fooled with: no control characters, not __metadata__.
bool is_tensor_name(std::string_view name);

}  // namespace sluice
