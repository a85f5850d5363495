// Making a directory so that it is there with all of its files or not at all; also after a crash.
#pragma once

#include <filesystem>

namespace sluice {

// A temporary directory beside the target, to be filled by the caller; commit() gives it the target's name.
// Without a commit it goes away; only a killed process leaves one behind, .sluice-*.tmp.
class AtomicDirectory {
 public:
  // The target may be an empty directory. One with files in it is a failure: nothing is ever replaced.
  explicit AtomicDirectory(const std::filesystem::path& target);
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;
  ~AtomicDirectory();

  const std::filesystem::path& path() const { return temporary_; }

  // The files in it must be on the disk already, as base/atomic_file.h puts them there.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty once it is renamed
};

}  // namespace sluice
