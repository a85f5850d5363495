// Runs a program and collects what it leaves behind.
#pragma once

#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice::test {

enum class Input { Empty, Closed };
enum class Killed { Program, Group };  // Group: whatever it has started, too

struct RunOptions {
  std::map<std::string, std::string> environment = {};  // added to that of the test
  Input input = Input::Empty;
  std::string input_file = {};   // what stdin reads instead
  std::string directory = {};    // where it runs instead of where the test does
  std::string output_file = {};  // where stdout goes instead of into ProgramRun::out
  std::optional<std::chrono::milliseconds> kill_after = {};  // if it has not ended by then
  int kill_signal = SIGKILL;
  Killed killed = Killed::Program;
};

struct ProgramRun {
  int exit_code = -1;  // 128 + number if a signal ended the program, as shells count
  std::string out;
  std::string err;
  bool was_killed = false;  // because of kill_after
};

// Runs sluice. SLUICE_ISA reaches it only through the options, whatever the tests themselves run under.
ProgramRun run_sluice(const std::vector<std::string>& arguments, const RunOptions& options = {});

// Runs any program by its path.
ProgramRun run_program(const std::string& path, const std::vector<std::string>& arguments,
                       const RunOptions& options = {});

// The path of a program that the shell would find; none if it is not installed.
std::optional<std::string> find_program(const std::string& name);

}  // namespace sluice::test
