#include "sluice/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"
#include "sluice/base/file_system.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = 1 << 16;  // system calls cost little against copying 64 KiB
constexpr int kMaxLinks = 40;                  // the kernel's own limit for a chain of symbolic links
constexpr int kNameAttempts = 16;  // names have 64 random bits; the second attempt is already a miracle

// Also follows a link to a file that does not exist yet, which fs::canonical refuses.
fs::path follow_links(const fs::path& path) {
  fs::path target = path;
  std::error_code error;
  for (int links = 0; links < kMaxLinks; ++links) {
    if (!fs::is_symlink(fs::symlink_status(target, error))) return target;
    const fs::path next = fs::read_symlink(target, error);
    if (error) throw system_failure(path, "cannot follow the link", error);
    target = target.parent_path() / next;  // an absolute `next` replaces the whole
  }
  throw system_failure(path, "cannot follow the link", std::error_code(ELOOP, std::generic_category()));
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) : path_(path) {
  const fs::path target = follow_links(path);
  name_ = target.filename().string();
  if (name_.empty()) throw failure({.where = path.string(), .what = "cannot write: not the name of a file"});
  const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  // Held open for the rename and its fsync: neither can then fail for want of the directory.
  directory_ = FileDescriptor(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_.is_open()) fail("cannot open the directory");
  create_temporary();
}

AtomicFile::~AtomicFile() {
  discard();
}

void AtomicFile::create_temporary() {
  struct stat old = {};
  const bool exists = ::fstatat(directory_.get(), name_.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (!exists && errno != ENOENT) fail("cannot create");
  if (exists && !S_ISREG(old.st_mode)) {
    // Renaming over /dev/null as root would take it from the whole system.
    const char* got = S_ISDIR(old.st_mode) ? "a directory" : "a pipe or device";
    throw failure({.where = path_.string(), .what = "cannot write", .expected = "a file", .got = got});
  }
  // The umask applies here; from the first moment no one may read who may not read the old file.
  const mode_t mode = exists ? old.st_mode & 0777 : 0666;
  for (int attempt = 0; attempt < kNameAttempts && !file_.is_open(); ++attempt) {
    const std::string name = temporary_name();
    file_ = FileDescriptor(
        ::openat(directory_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file_.is_open()) temporary_ = name;
    if (!file_.is_open() && errno != EEXIST) break;
  }
  if (!file_.is_open()) fail("cannot create");
  if (exists && ::fchmod(file_.get(), old.st_mode & 07777) != 0) fail("cannot set the permissions");
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void AtomicFile::write(std::string_view text) {
  check_open();
  if (buffer_.size() + text.size() > kBufferBytes) flush();
  if (text.size() > kBufferBytes) {
    write_through(text);
  } else {
    buffer_ += text;
  }
}

void AtomicFile::overwrite(std::size_t offset, std::span<const std::byte> bytes) {
  check_open();
  flush();
  const off_t end = ::lseek(file_.get(), 0, SEEK_CUR);
  SLUICE_ASSERT(offset + bytes.size() <= static_cast<std::size_t>(end),
                "AtomicFile::overwrite: {} bytes at {} of {}", bytes.size(), offset, end);
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::size_t>(count);
  }
}

void AtomicFile::commit() {
  check_open();
  flush();
  if (!sync(file_)) fail("cannot write");
  if (!file_.close()) fail("cannot write");
  if (::renameat(directory_.get(), temporary_.c_str(), directory_.get(), name_.c_str()) != 0)
    fail("cannot rename");
  temporary_.clear();
  if (!sync(directory_)) fail("cannot sync the directory");
}

void AtomicFile::flush() {
  write_through(buffer_);
  buffer_.clear();
}

void AtomicFile::write_through(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void AtomicFile::check_open() const {
  SLUICE_ASSERT(file_.is_open(), "AtomicFile: {} is committed or has failed", path_.string());
}

void AtomicFile::discard() noexcept {
  file_.close();
  if (!temporary_.empty()) ::unlinkat(directory_.get(), temporary_.c_str(), 0);
  temporary_.clear();
}

void AtomicFile::fail(const char* action) {
  const std::error_code error = last_system_error();
  discard();
  throw system_failure(path_, action, error);
}

void write_file_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

}  // namespace sluice
