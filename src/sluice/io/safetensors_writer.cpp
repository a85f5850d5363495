#include "sluice/io/safetensors_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "sluice/base/assert.h"
#include "sluice/base/atomic_file.h"
#include "sluice/io/elements.h"

namespace sluice {
namespace {

constexpr size_t kHeaderAlignment = 8;  // of the data, for readers that cast instead of copying
// Converted at a time: fits the second cache, and is more than AtomicFile would copy once again.
constexpr int64_t kChunkElements = 1 << 16;

void check(std::span<const TensorOutput> tensors) {
  std::set<std::string_view> names;
  for (const TensorOutput& each : tensors) {
    SLUICE_ASSERT(is_tensor_name(each.name), "write_safetensors: {} cannot be a name", each.name);
    SLUICE_ASSERT(names.insert(each.name).second, "write_safetensors: {} is there twice", each.name);
    SLUICE_ASSERT(is_readable(each.info.dtype), "write_safetensors: {} as {}", each.name,
                  name_of(each.info.dtype));
  }
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

// By hand, as nlohmann's ordered object searches all members for each new one.
std::string header_text(std::span<const TensorOutput> tensors, const SafetensorsMetadata& metadata) {
  std::string text = "{";
  if (!metadata.empty()) text += fmt::format("\"__metadata__\":{}", nlohmann::json(metadata).dump());
  size_t begin = 0;
  for (const auto& [name, info, values] : tensors) {
    const size_t end = begin + info.bytes();
    text += text.size() == 1 ? "" : ",";
    std::string dims;
    for (int axis = 0; axis < info.shape.rank(); ++axis) {
      dims += fmt::format("{}{}", axis == 0 ? "" : ",", info.shape[axis]);
    }
    text += fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", quoted(name),
                        name_of(info.dtype), dims, begin, end);
    begin = end;
  }
  text += "}";
  text.resize((text.size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment, ' ');
  SLUICE_ASSERT(text.size() <= kMaxSafetensorsHeader, "write_safetensors: a header of {} bytes", text.size());
  return text;
}

void write_elements(AtomicFile& file, const Tensor& tensor, StoredType dtype) {
  std::vector<std::byte> chunk;
  for (ElementRange range; range.first < tensor.count(); range.first += range.count) {
    range.count = std::min(kChunkElements, tensor.count() - range.first);
    chunk.resize(static_cast<size_t>(range.count) * size_of(dtype));
    encode_elements(tensor, range, dtype, chunk);
    file.write(chunk);
  }
}

}  // namespace

TensorOutput tensor_output(std::string name, Tensor tensor) {
  const StoredType dtype = stored_type_of(tensor.dtype());
  return tensor_output(std::move(name), std::move(tensor), dtype);
}

TensorOutput tensor_output(std::string name, Tensor tensor, StoredType dtype) {
  const TensorInfo info{dtype, tensor.shape()};
  return {std::move(name), info, [tensor = std::move(tensor)] { return tensor; }};
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorOutput> tensors,
                       const SafetensorsMetadata& metadata) {
  check(tensors);
  const std::string header = header_text(tensors, metadata);
  const uint64_t length = header.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const TensorOutput& each : tensors) {
    const Tensor tensor = each.values();
    SLUICE_ASSERT(tensor.shape() == each.info.shape, "write_safetensors: {} is {}, not {}", each.name,
                  tensor.shape().text(), each.info.shape.text());
    write_elements(file, tensor, each.info.dtype);
  }
  file.commit();
}

}  // namespace sluice
