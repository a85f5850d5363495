// A program that runs beside the test, with whatever it starts, and ends with it in every case.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace sluice::test {

class BackgroundProcess {
 public:
  // Its output, both streams, goes to the file. Throws if it cannot be started.
  BackgroundProcess(const std::string& path, const std::vector<std::string>& arguments,
                    std::string output_file);
  ~BackgroundProcess();
  BackgroundProcess(const BackgroundProcess&) = delete;
  BackgroundProcess& operator=(const BackgroundProcess&) = delete;

  bool is_running();
  std::string output() const;

  // What follows `before` in the output, to the end of digits. Throws if it does not come in time.
  int wait_for_number(const std::string& before, std::chrono::seconds longest);

 private:
  pid_t pid_ = -1;
  std::string output_file_;
};

// Kills every process of this user with the text in its command line: for what was started by what was
// started. The text should be a path that nobody else has.
void kill_all_that_name(const std::string& text);

// A folder of its own below the system's for temporary files, removed in the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace sluice::test
