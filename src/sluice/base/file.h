// Reading files: mapped or as text. Whatever is wrong with the path is bad input. Writing:
// base/atomic_file.h.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace sluice {

// A regular file mapped read-only. The mapping outlives a rename or removal of the file; a file that another
// process truncates while mapped is fatal (SIGBUS), so nothing in this project truncates in place.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  std::string text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  std::span<const std::byte> bytes_;
};

// Lets the system drop the pages that lie wholly in a part of a mapped file; reading brings them back.
void forget_mapped_pages(std::span<const std::byte> part);

// The whole content; refuses more than max_bytes. Pipes and /dev/stdin are fine.
std::string read_text(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace sluice
