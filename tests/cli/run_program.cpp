#include "tests/cli/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace sluice::test {
namespace {

// A file without a name, gone when it is closed. Unlike a pipe it never fills up.
class Capture {
 public:
  Capture() : file_(std::tmpfile(), std::fclose) {
    if (file_ == nullptr) throw std::runtime_error("cannot create a temporary file");
  }

  int descriptor() const { return fileno(file_.get()); }

  std::string text() const {
    std::string text;
    char buffer[4096];
    std::rewind(file_.get());
    while (const size_t count = std::fread(buffer, 1, sizeof buffer, file_.get())) text.append(buffer, count);
    return text;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  void close(int descriptor) { posix_spawn_file_actions_addclose(&actions_, descriptor); }
  void copy(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void open(int descriptor, const char* path, int flags) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, path, flags, 0600);
  }
  void change_directory(const char* path) { posix_spawn_file_actions_addchdir_np(&actions_, path); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// In a group of its own, a program can be killed with all that it started.
class SpawnAttributes {
 public:
  explicit SpawnAttributes(Killed killed) {
    posix_spawnattr_init(&attributes_);
    if (killed == Killed::Group) posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> lines;
  for (char** line = environ; *line != nullptr; ++line) {
    const std::string name = std::string(*line).substr(0, std::string(*line).find('='));
    if (name != "SLUICE_ISA" && !added.contains(name)) lines.emplace_back(*line);
  }
  for (const auto& [name, value] : added) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Whether it ended by itself, looked at every millisecond.
bool ends_within(pid_t child, std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  siginfo_t info = {};
  while (std::chrono::steady_clock::now() < end) {
    info.si_pid = 0;
    if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0)
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error("waitpid failed");
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

ProgramRun run_program(const std::string& path, const std::vector<std::string>& arguments,
                       const RunOptions& options) {
  const Capture out, err;
  FileActions actions;
  if (options.input == Input::Closed) {
    actions.close(STDIN_FILENO);
  } else {
    actions.open(STDIN_FILENO, options.input_file.empty() ? "/dev/null" : options.input_file.c_str(),
                 O_RDONLY);
  }
  if (options.output_file.empty()) {
    actions.copy(out.descriptor(), STDOUT_FILENO);
  } else {
    actions.open(STDOUT_FILENO, options.output_file.c_str(), O_WRONLY);
  }
  actions.copy(err.descriptor(), STDERR_FILENO);
  if (!options.directory.empty()) actions.change_directory(options.directory.c_str());

  std::vector<std::string> words = {path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = environment_with(options.environment);
  pid_t child = 0;
  const int error = posix_spawn(&child, path.c_str(), actions.get(), SpawnAttributes(options.killed).get(),
                                pointers(words).data(), pointers(environment).data());
  if (error != 0) throw std::runtime_error("cannot run " + path + ": " + std::strerror(error));
  const bool must_die = options.kill_after && !ends_within(child, *options.kill_after);
  if (must_die) kill(options.killed == Killed::Group ? -child : child, options.kill_signal);
  const int exit_code = wait_for(child);
  return {exit_code, out.text(), err.text(), must_die};
}

ProgramRun run_sluice(const std::vector<std::string>& arguments, const RunOptions& options) {
  return run_program(SLUICE_PROGRAM, arguments, options);
}

std::optional<std::string> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    if (const std::string file = folder + "/" + name; access(file.c_str(), X_OK) == 0) return file;
  }
  return std::nullopt;
}

}  // namespace sluice::test
