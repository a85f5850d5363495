#include "sluice/base/appended_file.h"

#include <fcntl.h>

#include <cerrno>

#include "sluice/base/file_system.h"

namespace sluice {

AppendedFile::AppendedFile(std::filesystem::path path)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (!file_.is_open()) fail("cannot open");
}

void AppendedFile::append(std::string_view record) {
  ssize_t written = 0;
  do {
    errno = ENOSPC;  // what a short write means; a failed one says its own reason
    written = ::write(file_.get(), record.data(), record.size());
  } while (written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(record.size())) fail("cannot write");
}

void AppendedFile::sync() {
  if (!sluice::sync(file_)) fail("cannot write");
}

void AppendedFile::fail(std::string_view action) const {
  throw system_failure(path_, action, last_system_error());
}

}  // namespace sluice
