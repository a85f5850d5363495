#include "sluice/base/atomic_directory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <random>
#include <system_error>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"
#include "sluice/base/file_descriptor.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

Error failed(const fs::path& target, std::string_view action, const std::error_code& error) {
  return failure({.where = target.string(), .what = fmt::format("{}: {}", action, error.message())});
}

void sync(const fs::path& directory, const fs::path& target) {
  const FileDescriptor open(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems have no fsync for directories and say EINVAL.
  if (!open.is_open() || (::fsync(open.get()) != 0 && errno != EINVAL)) {
    throw failed(target, "cannot sync the directory", std::error_code(errno, std::generic_category()));
  }
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
  if (fs::exists(status) && (!fs::is_directory(status) || !fs::is_empty(target_, error))) {
    throw failure({.where = target.string(),
                   .what = fs::is_directory(status) ? "is not empty" : "is not a directory",
                   .hint = "give a name that does not exist yet"});
  }
  const fs::path parent = parent_of(target_);
  fs::create_directories(parent, error);
  if (error) throw failed(target, "cannot create", error);
  std::random_device source;
  const auto high = static_cast<std::uint64_t>(source()) << 32;
  temporary_ = parent / fmt::format(".sluice-{:016x}.tmp", high | source());
  fs::create_directory(temporary_, error);
  if (error) {
    temporary_.clear();
    throw failed(target, "cannot create", error);
  }
}

AtomicDirectory::~AtomicDirectory() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void AtomicDirectory::commit() {
  SLUICE_ASSERT(!temporary_.empty(), "AtomicDirectory: {} is committed already", target_.string());
  sync(temporary_, target_);
  std::error_code error;
  fs::rename(temporary_, target_, error);  // in the place of an empty directory, too
  if (error) throw failed(target_, "cannot rename", error);
  temporary_.clear();
  sync(parent_of(target_), target_);
}

}  // namespace sluice
