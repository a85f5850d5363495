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

}  // namespace sluice::test
