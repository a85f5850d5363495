#include "sluice/io/safetensors_shards.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <vector>

#include "sluice/base/assert.h"
#include "sluice/base/atomic_file.h"
#include "sluice/base/error.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

using Shard = std::span<const TensorOutput>;

// Replacing an old model shard by shard would leave a mixture under the old index for a while.
void refuse_existing_model(const fs::path& directory, const std::string& stem) {
  for (const std::string& name : {single_file(stem), index_file(stem)}) {
    std::error_code ignored;  // whatever else is wrong shows when the file is made
    if (fs::exists(fs::symlink_status(directory / name, ignored))) {
      throw failure({.where = (directory / name).string(),
                     .what = "cannot write: the directory already holds a model",
                     .hint = "remove it or name another directory"});
    }
  }
}

// Consecutive tensors, as many as fit.
std::vector<Shard> cut(std::span<const TensorOutput> tensors, size_t max_bytes) {
  std::vector<Shard> shards;
  size_t first = 0;
  size_t filled = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const size_t bytes = tensors[i].info.bytes();
    if (i > first && (filled > max_bytes || bytes > max_bytes - filled)) {
      shards.push_back(tensors.subspan(first, i - first));
      first = i;
      filled = 0;
    }
    filled += bytes;
  }
  shards.push_back(tensors.subspan(first));
  return shards;
}

void check_names(std::span<const TensorOutput> tensors) {
  std::set<std::string_view> names;
  for (const TensorOutput& each : tensors) {
    SLUICE_ASSERT(names.insert(each.name).second, "write_model_tensors: {} is there twice", each.name);
  }
}

std::string shard_name(const std::string& stem, size_t index, size_t count) {
  return fmt::format("{}-{:05}-of-{:05}.safetensors", stem, index + 1, count);
}

std::string index_text(const std::vector<Shard>& shards, const std::string& stem) {
  size_t total = 0;
  nlohmann::json files = nlohmann::json::object();
  for (size_t i = 0; i < shards.size(); ++i) {
    for (const TensorOutput& each : shards[i]) {
      files[each.name] = shard_name(stem, i, shards.size());
      total += each.info.bytes();
    }
  }
  const nlohmann::json index = {{"metadata", {{"total_size", total}}}, {"weight_map", files}};
  return index.dump(2) + "\n";
}

// Files that go away again unless they are kept. Shards without an index do no harm, but take room.
class WrittenFiles {
 public:
  WrittenFiles() = default;
  WrittenFiles(const WrittenFiles&) = delete;
  WrittenFiles& operator=(const WrittenFiles&) = delete;
  ~WrittenFiles() {
    std::error_code ignored;
    for (const fs::path& each : paths_) fs::remove(each, ignored);
  }

  void add(fs::path path) { paths_.push_back(std::move(path)); }
  void keep() { paths_.clear(); }

 private:
  std::vector<fs::path> paths_;
};

}  // namespace

std::string single_file(std::string_view stem) {
  return fmt::format("{}.safetensors", stem);
}

std::string index_file(std::string_view stem) {
  return fmt::format("{}.safetensors.index.json", stem);
}

void write_model_tensors(const fs::path& directory, std::span<const TensorOutput> tensors,
                         const ShardOptions& options) {
  refuse_existing_model(directory, options.stem);
  check_names(tensors);
  const std::vector<Shard> shards = cut(tensors, options.max_bytes);
  if (shards.size() == 1) {
    write_safetensors(directory / single_file(options.stem), tensors, options.metadata);
    return;
  }
  WrittenFiles written;
  for (size_t i = 0; i < shards.size(); ++i) {
    const fs::path path = directory / shard_name(options.stem, i, shards.size());
    write_safetensors(path, shards[i], options.metadata);
    written.add(path);
  }
  write_file_atomically(directory / index_file(options.stem), index_text(shards, options.stem));
  written.keep();
}

}  // namespace sluice
