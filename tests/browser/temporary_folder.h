// A folder of its own below the system's for temporary files, and an end of all that works in it.
#pragma once

#include <sys/types.h>

#include <string>

namespace sluice::test {

// Kills every process with the text in its command line: for what was started by what was started. The text
// should be a path that nobody else has. True if there was one.
bool kill_all_that_name(const std::string& text);

// Removed in the end. If this process is killed before, a second one that waits for that kills all that name
// the folder in their command line and removes it: a browser is no child of ours, but of its driver.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  int alive_ = -1;  // the end of a pipe that is open as long as we live
  pid_t watcher_ = -1;
};

}  // namespace sluice::test
