#include "sluice/base/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "sluice/base/file_system.h"

namespace sluice {

FileDescriptor lock_directory(const std::filesystem::path& directory, const std::string& what_others_do) {
  FileDescriptor file(::open((directory / kLockName).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file.is_open()) throw system_failure(directory, "cannot lock", last_system_error());
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw system_failure(directory, "cannot lock", last_system_error());
    throw failure(
        {.where = directory.string(), .what = what_others_do, .hint = "wait for it, or choose another one"});
  }
  return file;
}

}  // namespace sluice
