#include "tests/browser/temporary_folder.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace sluice::test {
namespace {

constexpr int kMostRounds = 50;  // a browser starts helpers while it is being killed
constexpr std::chrono::milliseconds kRoundPause{100};

void remove_folder(const std::string& path) {
  std::error_code ignored;  // a browser that is just ending may still write into it
  std::filesystem::remove_all(path, ignored);
}

// In the second process: returns from reading when the last holder of the other end has gone.
[[noreturn]] void watch(int ending, const std::string& path) {
  setsid();  // a signal to the group of the first is not for us
  char nothing = 0;
  while (read(ending, &nothing, 1) < 0) continue;
  for (int round = 0; round < kMostRounds && kill_all_that_name(path); ++round)
    std::this_thread::sleep_for(kRoundPause);
  remove_folder(path);
  _exit(0);
}

}  // namespace

bool kill_all_that_name(const std::string& text) {
  bool found = false;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline");
    std::ostringstream line;
    line << file.rdbuf();
    if (line.str().find(text) == std::string::npos) continue;
    found = kill(static_cast<pid_t>(std::stoi(name)), SIGKILL) == 0 || found;
  }
  return found;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "sluice-browser-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": cannot be made");
  path_ = name;
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
  alive_ = ends[1];
  watcher_ = fork();
  if (watcher_ == 0) {
    close(alive_);
    watch(ends[0], path_);
  }
  close(ends[0]);
}

TemporaryFolder::~TemporaryFolder() {
  // Not by closing the pipe: watchers of folders made later hold its end, too.
  if (watcher_ > 0) {
    kill(watcher_, SIGKILL);
    waitpid(watcher_, nullptr, 0);
  }
  close(alive_);
  remove_folder(path_);
}

}  // namespace sluice::test
