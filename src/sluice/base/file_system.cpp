#include "sluice/base/file_system.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <random>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".sluice-", kSuffix = ".tmp";

}  // namespace

std::error_code last_system_error() {
  return {errno, std::generic_category()};
}

Error system_failure(const fs::path& where, std::string_view action, const std::error_code& error) {
  return failure({.where = where.string(), .what = fmt::format("{}: {}", action, error.message())});
}

std::string temporary_name() {
  std::random_device source;
  const auto high = static_cast<std::uint64_t>(source()) << 32;
  return fmt::format("{}{:016x}{}", kPrefix, high | source(), kSuffix);
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with(kPrefix) && name.ends_with(kSuffix);
}

void remove_temporaries(const fs::path& directory) {
  std::error_code ignored;
  for (const std::string& name : names_in(directory, ignored))
    if (is_temporary_name(name)) fs::remove_all(directory / name, ignored);
}

std::vector<std::string> names_in(const fs::path& directory, std::error_code& error) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  error = open ? std::error_code() : last_system_error();
  std::vector<std::string> names;
  while (open) {
    errno = 0;  // by which readdir() tells the end from an error
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr) {
      if (errno != 0) error = last_system_error();
      break;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

bool sync(const FileDescriptor& open) {
  int result = 0;
  do {
    result = ::fsync(open.get());
  } while (result != 0 && errno == EINTR);
  // Some file systems have no fsync for directories and say EINVAL.
  return result == 0 || errno == EINVAL;
}

namespace {

// Directories are made on the way, so that the first one which is there decides.
void check_can_create(const fs::path& directory) {
  std::error_code error;
  fs::path above = fs::absolute(directory, error).lexically_normal();
  while (!fs::exists(above, error) && above.has_relative_path()) above = above.parent_path();
  if (!fs::is_directory(above, error))
    throw system_failure(directory, "cannot create", std::make_error_code(std::errc::not_a_directory));
  if (::access(above.c_str(), W_OK | X_OK) != 0)
    throw system_failure(directory, "cannot create", last_system_error());
  // Some say that they can be written and take nothing, as /proc does. The name is one that nobody waits for.
  const fs::path trial = above / temporary_name();
  if (::mkdir(trial.c_str(), 0777) != 0)
    throw system_failure(directory, "cannot create", last_system_error());
  fs::remove(trial, error);
}

}  // namespace

void check_can_fill(const fs::path& directory) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (!fs::exists(status)) return check_can_create(directory);
  if (!fs::is_directory(status)) {
    throw failure({.where = directory.string(),
                   .what = "is not a directory",
                   .hint = "give a name that does not exist yet"});
  }
  const bool is_empty = fs::is_empty(directory, error);
  if (error) throw system_failure(directory, "cannot look into it", error);
  if (!is_empty) {
    throw failure(
        {.where = directory.string(), .what = "is not empty", .hint = "give a name that does not exist yet"});
  }
}

}  // namespace sluice
