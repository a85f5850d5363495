#include "sluice/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "sluice/base/error.h"
#include "sluice/base/file_descriptor.h"
#include "sluice/base/interrupt.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadStep = 1 << 16;  // the capacity of a Linux pipe

std::string hint_for(int error, const fs::path& path) {
  if (error == EACCES) return "check the permissions of the file and its directories";
  if ((error == ENOENT || error == ENOTDIR) && path.is_relative()) {
    std::error_code ignored;
    return "relative to " + fs::current_path(ignored).string();
  }
  return "";
}

Error system_error(const char* action, const fs::path& path, int error) {
  const std::string what = fmt::format("{}: {}", action, std::generic_category().message(error));
  return bad_input({.where = path.string(), .what = what, .hint = hint_for(error, path)});
}

Error too_large(const fs::path& path, std::size_t max_bytes, std::string got) {
  return bad_input({.where = path.string(),
                    .what = "file too large",
                    .expected = fmt::format("at most {} bytes", max_bytes),
                    .got = std::move(got)});
}

FileDescriptor open_for_reading(const fs::path& path, int extra_flags) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | extra_flags));
  if (!file.is_open()) throw system_error("cannot open", path, errno);
  return file;
}

struct stat status_of(const FileDescriptor& file, const fs::path& path) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) throw system_error("cannot inspect", path, errno);
  if (S_ISDIR(status.st_mode)) {
    throw bad_input({.where = path.string(),
                     .expected = "a file",
                     .got = "a directory",
                     .hint = "name a file inside it"});
  }
  return status;
}

std::span<const std::byte> map(const FileDescriptor& file, std::size_t size, const fs::path& path) {
  if (size == 0) return {};  // mmap refuses a length of 0
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) throw system_error("cannot map", path, errno);
  return {static_cast<const std::byte*>(address), size};
}

void unmap(std::span<const std::byte> bytes) {
  if (!bytes.empty()) ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

// 0 at the end of the file.
std::size_t read_some(const FileDescriptor& file, std::span<char> out, const fs::path& path) {
  for (;;) {
    const ssize_t count = ::read(file.get(), out.data(), out.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) throw system_error("cannot read", path, errno);
    throw_if_interrupted();
  }
}

}  // namespace

MappedFile::MappedFile(const fs::path& path) {
  // O_NONBLOCK: opening a pipe returns at once, to be refused below, instead of waiting for a writer.
  const FileDescriptor file = open_for_reading(path, O_NONBLOCK);
  const struct stat status = status_of(file, path);
  if (!S_ISREG(status.st_mode)) {
    throw bad_input({.where = path.string(),
                     .expected = "a regular file",
                     .got = "a pipe or device",
                     .hint = "save the data to a file first"});
  }
  bytes_ = map(file, static_cast<std::size_t>(status.st_size), path);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  unmap(bytes_);
}

void forget_mapped_pages(std::span<const std::byte> part) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t begin = (first + page - 1) / page * page, end = (first + part.size()) / page * page;
  // Only a hint: if the system does not follow it, the pages stay.
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

std::string read_text(const fs::path& path, std::size_t max_bytes) {
  const FileDescriptor file = open_for_reading(path, 0);
  const auto size = static_cast<std::size_t>(status_of(file, path).st_size);  // 0 for pipes
  if (size > max_bytes) throw too_large(path, max_bytes, fmt::format("{} bytes", size));

  std::string text;
  std::size_t used = 0;
  for (;;) {
    // One byte more than the limit (and than the known size) shows that there is more, or that this is the
    // end.
    const std::size_t wanted = std::max(size + 1, used + kReadStep);
    text.resize(max_bytes < wanted ? max_bytes + 1 : wanted);
    const std::size_t count = read_some(file, std::span(text).subspan(used), path);
    used += count;
    if (used > max_bytes) throw too_large(path, max_bytes, "more");
    if (count == 0) break;
  }
  text.resize(used);
  return text;
}

}  // namespace sluice
