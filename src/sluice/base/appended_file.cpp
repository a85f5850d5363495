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
  errno = ENOSPC;  // what a short write means; a failed one says its own reason
  if (::write(file_.get(), record.data(), record.size()) != static_cast<ssize_t>(record.size()))
    fail("cannot write");
}

void AppendedFile::fail(std::string_view action) const {
  throw system_failure(path_, action, last_system_error());
}

}  // namespace sluice
