// A file that grows by whole lines or records, as a log does. Files that are made at once:
// base/atomic_file.h.
#pragma once

#include <filesystem>
#include <string_view>

#include "sluice/base/file_descriptor.h"

namespace sluice {

class AppendedFile {
 public:
  // Makes the file if there is none. Every error is a failure that names it.
  explicit AppendedFile(std::filesystem::path path);

  // One call of the system: the record is there as a whole or not at all, but for a full disk.
  void append(std::string_view record);

  // Waits until it is all on the disk.
  void sync();

 private:
  [[noreturn]] void fail(std::string_view action) const;

  std::filesystem::path path_;
  FileDescriptor file_;
};

}  // namespace sluice
