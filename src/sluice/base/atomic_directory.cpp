#include "sluice/base/atomic_directory.h"

#include <fcntl.h>

#include <system_error>

#include "sluice/base/assert.h"
#include "sluice/base/file_system.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

void sync_names(const fs::path& directory, const fs::path& target) {
  const FileDescriptor open(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!open.is_open() || !sync(open))
    throw system_failure(target, "cannot sync the directory", last_system_error());
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

AtomicDirectory::AtomicDirectory(const fs::path& target)
    : target_(target.has_filename() ? target : target.parent_path()) {
  if (target_.empty()) throw failure({.what = "the directory to write has no name"});
  std::error_code error;
  const fs::file_status status = fs::status(target_, error);
  // A link stays one: the directory that it points to is filled.
  if (fs::is_symlink(fs::symlink_status(target_, error)) && fs::exists(status))
    target_ = fs::canonical(target_, error);
  check_can_fill(target_);
  const fs::path parent = parent_of(target_);
  fs::create_directories(parent, error);
  if (error) throw system_failure(target, "cannot create", error);
  temporary_ = parent / temporary_name();
  fs::create_directory(temporary_, error);
  if (error) {
    temporary_.clear();
    throw system_failure(target, "cannot create", error);
  }
}

AtomicDirectory::~AtomicDirectory() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void AtomicDirectory::commit() {
  SLUICE_ASSERT(!temporary_.empty(), "AtomicDirectory: {} is committed already", target_.string());
  sync_names(temporary_, target_);
  std::error_code error;
  fs::rename(temporary_, target_, error);  // in the place of an empty directory, too
  if (error) throw system_failure(target_, "cannot rename", error);
  temporary_.clear();
  sync_names(parent_of(target_), target_);
}

}  // namespace sluice
