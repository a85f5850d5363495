// The tensors of a model directory, whatever files they are in. Which tensors a model needs and how gates are
// packed into them is not known here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/io/safetensors.h"
#include "sluice/tensor/tensor.h"

namespace sluice {

// What a caller wants: bad input unless the file has that shape; the dtype is F32 or BF16.
struct TensorRequest {
  std::string_view name;
  Shape shape;
  DType dtype = DType::F32;
};

// Slices of the first dimension: [first, first + count).
struct RowRange {
  int64_t first = 0;
  int64_t count = 0;
};

// Safe to share between threads: several may read at once.
class TensorStore {
 public:
  // Opens model.safetensors, or the shards that model.safetensors.index.json names; with another stem, other
  // tensors in the directory. Index and shards must agree on every tensor.
  explicit TensorStore(const std::filesystem::path& directory, std::string_view stem = "model");

  std::vector<std::string> names() const;  // file by file, in the order of their data
  bool contains(std::string_view name) const { return file_of_.find(name) != file_of_.end(); }

  // A name that is not there is bad input.
  const TensorInfo& info(std::string_view name) const { return file(name).info(name); }

  // As stored, in the mapping; for readers that need no copy. As long as this object lives.
  std::span<const std::byte> bytes(std::string_view name) const { return file(name).bytes(name); }

  // The file that holds it, for messages.
  const std::string& file_name(std::string_view name) const { return file(name).file_name(); }

  // Stored F32, BF16 and F16 are converted: to F32 exactly, to BF16 rounding to nearest, ties to even.
  Tensor read(MemoryPool& pool, std::string_view name, const Shape& shape, DType dtype) const;

  // Bad input unless read() could serve the request.
  void check(const TensorRequest& request) const;

  // The given rows of the tensor, one range after the other, as one tensor. So each part of a packed matrix
  // is made straight from the file.
  Tensor read_rows(MemoryPool& pool, const TensorRequest& request, std::span<const RowRange> rows) const;

 private:
  const SafetensorsFile& file(std::string_view name) const;

  std::string directory_;
  std::map<std::string, SafetensorsFile> files_;                        // by name in the directory
  std::map<std::string, const SafetensorsFile*, std::less<>> file_of_;  // by tensor; nodes of files_ stay put
};

}  // namespace sluice
