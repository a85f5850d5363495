#include "sluice/io/tensor_store.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"
#include "sluice/base/json.h"
#include "sluice/base/json_path.h"
#include "sluice/io/elements.h"
#include "sluice/io/safetensors_shards.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

enum class Layout { SingleFile, Shards };

Layout layout_of(const fs::path& directory, std::string_view stem) {
  std::error_code ignored;  // a file that cannot be looked at is one that is not there
  const bool single = fs::exists(directory / single_file(stem), ignored);
  const bool shards = fs::exists(directory / index_file(stem), ignored);
  if (single == shards) {
    throw bad_input(
        {.where = directory.string(),
         .expected = fmt::format("a model directory with {} or {}", single_file(stem), index_file(stem)),
         .got = single ? "both" : "neither",
         .hint = single ? "remove the one that is not meant" : ""});
  }
  return single ? Layout::SingleFile : Layout::Shards;
}

// The index of a model with 10^5 tensors has 9 MB.
constexpr JsonLimits kIndexLimits{.bytes = size_t{32} << 20, .depth = 8};

// A file of the directory itself. Not a path: that could name any file of the machine.
bool is_plain_file_name(std::string_view name) {
  return name.ends_with(".safetensors") && name.find_first_of("/\\") == std::string_view::npos &&
         name.find("..") == std::string_view::npos && is_tensor_name(name);
}

// Tensor → plain file name. Other keys of the index (metadata: sizes, which published files often miscount)
// are not used.
using WeightMap = std::map<std::string, std::string>;

WeightMap read_weight_map(const std::filesystem::path& path) {
  const Json json = Json::load(path, kIndexLimits).at("weight_map");
  if (!json.is_object()) throw json.unexpected("object");
  WeightMap map;
  for (const auto& [tensor, file] : json.node().items()) {
    if (!file.is_string() || !is_plain_file_name(file.get_ref<const std::string&>())) {
      throw bad_input({.where = tensor_place(json.where(), tensor),
                       .expected = "the plain name of a .safetensors file in this directory",
                       .got = described(file)});
    }
    map.emplace(tensor, file.get<std::string>());
  }
  return map;
}

using Files = std::map<std::string, SafetensorsFile>;

// Both ways: the index must list what the files hold, and the files must hold what the index lists.
void check_agreement(const Files& files, const WeightMap& listed, const std::string& index) {
  for (const auto& [name, file] : files) {
    for (const std::string& tensor : file.names()) {
      const auto found = listed.find(tensor);
      if (found != listed.end() && found->second == name) continue;
      const std::string what = found == listed.end()
                                   ? fmt::format("is not listed in {}", index)
                                   : fmt::format("{} says that it is in {}", index, found->second);
      throw bad_input({.where = tensor_place(file.file_name(), tensor), .what = what});
    }
  }
  for (const auto& [tensor, name] : listed) {
    const SafetensorsFile& file = files.at(name);
    if (file.contains(tensor)) continue;
    throw bad_input({.where = tensor_place(file.file_name(), tensor),
                     .what = fmt::format("is missing, but {} says that it is here", index)});
  }
}

Files open_shards(const fs::path& directory, const std::string& index) {
  const WeightMap listed = read_weight_map(directory / index);
  Files files;
  for (const auto& [tensor, name] : listed) {
    if (files.find(name) == files.end()) files.emplace(name, directory / name);
  }
  check_agreement(files, listed, index);
  return files;
}

// The shape of `count` rows of a tensor of that shape.
Shape with_rows(const Shape& shape, int64_t count) {
  std::array<int64_t, Shape::kMaxRank> dims{};
  for (int axis = 0; axis < shape.rank(); ++axis) dims[axis] = axis == 0 ? count : shape[axis];
  return Shape(std::span<const int64_t>(dims).first(static_cast<size_t>(shape.rank())));
}

int64_t total(std::span<const RowRange> rows, const TensorRequest& request) {
  SLUICE_ASSERT(request.shape.rank() >= 1, "read_rows: {} is a single value", request.name);
  int64_t count = 0;
  for (const RowRange& each : rows) {
    SLUICE_ASSERT(each.first >= 0 && each.count >= 0 && each.first <= request.shape[0] - each.count,
                  "read_rows: {} rows from {} are not in {} of shape {}", each.count, each.first,
                  request.name, request.shape.text());
    count += each.count;
  }
  return count;
}

}  // namespace

TensorStore::TensorStore(const fs::path& directory, std::string_view stem) : directory_(directory.string()) {
  if (layout_of(directory, stem) == Layout::Shards) {
    files_ = open_shards(directory, index_file(stem));
  } else {
    files_.emplace(single_file(stem), directory / single_file(stem));
  }
  for (const auto& [name, file] : files_) {
    for (const std::string& tensor : file.names()) file_of_.emplace(tensor, &file);
  }
}

std::vector<std::string> TensorStore::names() const {
  std::vector<std::string> all;
  all.reserve(file_of_.size());
  for (const auto& [name, file] : files_) {
    for (std::string& tensor : file.names()) all.push_back(std::move(tensor));
  }
  return all;
}

Tensor TensorStore::read(MemoryPool& pool, std::string_view name, const Shape& shape, DType dtype) const {
  check({name, shape, dtype});
  Tensor tensor = Tensor::empty(pool, shape, dtype);
  decode_elements(bytes(name), info(name).dtype, tensor, {.first = 0, .count = tensor.count()});
  return tensor;
}

Tensor TensorStore::read_rows(MemoryPool& pool, const TensorRequest& request,
                              std::span<const RowRange> rows) const {
  check(request);
  Tensor tensor = Tensor::empty(pool, with_rows(request.shape, total(rows, request)), request.dtype);
  const std::span<const std::byte> source = bytes(request.name);
  const StoredType stored = info(request.name).dtype;
  const int64_t width = with_rows(request.shape, 1).count();  // elements of a row
  const size_t row_bytes = static_cast<size_t>(width) * size_of(stored);
  int64_t filled = 0;
  for (const RowRange& each : rows) {
    const auto part = source.subspan(static_cast<size_t>(each.first) * row_bytes,
                                     static_cast<size_t>(each.count) * row_bytes);
    decode_elements(part, stored, tensor, {.first = filled * width, .count = each.count * width});
    filled += each.count;
  }
  return tensor;
}

const SafetensorsFile& TensorStore::file(std::string_view name) const {
  const auto found = file_of_.find(name);
  if (found == file_of_.end())
    throw bad_input({.where = tensor_place(directory_, name), .what = "is missing"});
  return *found->second;
}

void TensorStore::check(const TensorRequest& request) const {
  SLUICE_ASSERT(request.dtype == DType::F32 || request.dtype == DType::BF16, "read: {} as {}", request.name,
                name_of(request.dtype));
  const TensorInfo& got = info(request.name);
  const std::string where = tensor_place(file_name(request.name), request.name);
  if (!is_readable(got.dtype)) {
    throw bad_input(
        {.where = where + ": dtype", .expected = "F32, BF16 or F16", .got = std::string(name_of(got.dtype))});
  }
  if (got.shape != request.shape) {
    throw bad_input({.where = where + ": shape", .expected = request.shape.text(), .got = got.shape.text()});
  }
}

}  // namespace sluice
