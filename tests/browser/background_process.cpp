#include "tests/browser/background_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace sluice::test {
namespace {

constexpr std::chrono::milliseconds kPause{50};

// In the child: a group of its own, so that helpers of a browser are killed with it, and an end with the
// parent's, even if that is killed.
[[noreturn]] void become(const std::vector<char*>& words, int output, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // gone before that
  const int input = open("/dev/null", O_RDONLY);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(words.front(), words.data());
  _exit(127);
}

}  // namespace

BackgroundProcess::BackgroundProcess(const std::string& path, const std::vector<std::string>& arguments,
                                     std::string output_file)
    : output_file_(std::move(output_file)) {
  std::vector<std::string> copies{path};
  copies.insert(copies.end(), arguments.begin(), arguments.end());
  std::vector<char*> words;
  for (std::string& word : copies) words.push_back(word.data());
  words.push_back(nullptr);
  const int output = open(output_file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (output < 0) throw std::runtime_error(output_file_ + ": cannot be written");
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(words, output, parent);
  close(output);
  if (pid_ < 0) throw std::runtime_error(path + ": cannot be started");
  setpgid(pid_, pid_);  // whoever comes first; the group must be there before it is killed
}

BackgroundProcess::~BackgroundProcess() {
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool BackgroundProcess::is_running() {
  // Left as it is for the destructor to collect: until then the number belongs to nobody else.
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

std::string BackgroundProcess::output() const {
  std::ifstream file(output_file_);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int BackgroundProcess::wait_for_number(const std::string& before, std::chrono::seconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  while (std::chrono::steady_clock::now() < end) {
    const bool running = is_running();
    const std::string text = output();
    const size_t found = text.find(before);
    if (found != std::string::npos) {
      const size_t start = found + before.size();
      const size_t stop = text.find_first_not_of("0123456789", start);
      if (stop != std::string::npos && stop > start) return std::stoi(text.substr(start, stop - start));
    }
    if (!running) throw std::runtime_error("ended instead of saying \"" + before + "\": " + text);
    std::this_thread::sleep_for(kPause);
  }
  throw std::runtime_error("did not say \"" + before + "\" in time: " + output());
}

}  // namespace sluice::test
