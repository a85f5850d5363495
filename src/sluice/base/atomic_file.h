// Writing files so that a reader sees the old content or the new, never a part; also after a crash.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "sluice/base/file_descriptor.h"

namespace sluice {

// Collects writes in a temporary file beside the target; commit() puts it in the target's place. Without a
// commit nothing changes and the temporary goes away; only a killed process leaves one behind, .sluice-*.tmp.
// A symbolic link stays one: the file it points to is replaced. An existing file keeps its permissions. Every
// error is a failure that names the target.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

  // Replaces bytes that were written before: for a header whose figures are known only at the end.
  void overwrite(std::size_t offset, std::span<const std::byte> bytes);
  void commit();

 private:
  void create_temporary();
  void flush();
  void write_through(std::string_view bytes);
  void check_open() const;
  void discard() noexcept;
  [[noreturn]] void fail(const char* action);

  std::filesystem::path path_;  // as the caller named it, for messages
  std::string name_;            // of the target in directory_
  std::string temporary_;       // likewise; empty once it is renamed or removed
  FileDescriptor directory_;
  FileDescriptor file_;
  std::string buffer_;
};

void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace sluice
