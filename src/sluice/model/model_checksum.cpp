#include "sluice/model/model_checksum.h"

#include <zlib.h>

#include <algorithm>
#include <span>
#include <vector>

#include "sluice/base/file.h"
#include "sluice/base/file_system.h"
#include "sluice/model/model_directory.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

// A part at a time, which is dropped from memory again: the model is mapped once already, by whoever runs it.
uint32_t checksum_with(uint32_t before, const fs::path& file) {
  constexpr size_t kPart = size_t{8} << 20;
  const MappedFile mapped(file);
  uint32_t checksum = before;
  for (std::span<const std::byte> rest = mapped.bytes(); !rest.empty();) {
    const std::span<const std::byte> part = rest.first(std::min(kPart, rest.size()));
    checksum =
        static_cast<uint32_t>(crc32_z(checksum, reinterpret_cast<const Bytef*>(part.data()), part.size()));
    forget_mapped_pages(part);
    rest = rest.subspan(part.size());
  }
  return checksum;
}

bool belongs_to_model(const fs::path& file) {
  return file.filename() == "config.json" || file.extension() == ".safetensors";
}

// What makes a model what it is, in an order that does not depend on the file system. A tokenizer has a
// fingerprint of its own.
std::vector<fs::path> files_of_model(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const std::string& name : names_in(directory, error))
    if (belongs_to_model(name)) files.push_back(directory / name);
  if (error) throw system_failure(directory, "cannot read", error);
  return files;
}

}  // namespace

std::optional<uint32_t> checksum_of_source(const fs::path& path) {
  std::error_code unknown;
  std::vector<fs::path> files;
  if (fs::is_directory(path, unknown)) files = files_of_model(model_directory(path));
  if (fs::is_regular_file(path, unknown)) files = {path};
  if (files.empty()) return {};
  uint32_t checksum = 0;
  for (const fs::path& file : files) checksum = checksum_with(checksum, file);
  return checksum;
}

}  // namespace sluice
