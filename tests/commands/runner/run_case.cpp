#include "tests/commands/runner/run_case.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/base/temporary_directory.h"
#include "tests/commands/runner/check.h"

namespace sluice::test {
namespace {

using Clock = std::chrono::steady_clock;

std::string shown(const char* name, const std::string& text) {
  constexpr int kMost = 40;  // lines: more hide the message
  if (text.empty()) return "";
  std::string result = std::string(name) + ":\n";
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (count < kMost) result += "| " + line + "\n";
  }
  if (count > kMost) result += "| … " + std::to_string(count - kMost) + " more lines\n";
  return result;
}

std::string message(const Step& step, const std::string& expected, const std::string& got,
                    const ProgramRun& run) {
  return "$ " + step.command + "\nexpected: " + expected + "\ngot:      " + got + "\n" +
         shown("stdout", run.out) + shown("stderr", run.err);
}

class Running {
 public:
  explicit Running(const CaseOptions& options)
      : options_(options), variables_(options.variables), end_(Clock::now() + options.time_limit) {
    variables_["TMP"] = directory_.path().string();
  }

  std::vector<Failure> take(const Step& step) {
    if (!step.file) return run(step);
    const std::filesystem::path path = directory_.path() / step.file->name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    if (file << step.file->content << std::flush) return {};
    return {{step.line, "cannot write " + step.file->name}};
  }

 private:
  std::vector<Failure> run(const Step& step) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
    const ProgramRun ended = run_program("/bin/bash", {"-o", "pipefail", "-c", step.command},
                                         {.environment = environment(),
                                          .directory = directory_.path().string(),
                                          .kill_after = std::max(left, std::chrono::milliseconds(1)),
                                          .killed = Killed::Group});
    if (ended.was_killed) {
      const auto limit = std::chrono::duration<double>(options_.time_limit).count();
      std::ostringstream expected;
      expected << "the case to end within " << limit << " s";
      return {{step.line, message(step, expected.str(), "killed", ended)}};
    }
    return failures(step, ended);
  }

  std::vector<Failure> failures(const Step& step, const ProgramRun& ended) {
    std::vector<Failure> all;
    for (const CheckLine& line : step.checks) {
      try {
        const std::optional<std::string> got = line.check({ended, directory_.path(), variables_});
        if (got) all.push_back({line.line, message(step, expand(line.text, variables_), *got, ended)});
      } catch (const std::exception& error) {
        all.push_back({line.line, message(step, line.text, error.what(), ended)});
      }
    }
    return all;
  }

  Variables environment() const {
    Variables all = variables_;
    const char* path = std::getenv("PATH");
    all["PATH"] =
        (options_.path.empty() ? "" : options_.path + ":") + (path == nullptr ? "/usr/bin:/bin" : path);
    return all;
  }

  const CaseOptions& options_;
  TemporaryDirectory directory_;
  Variables variables_;
  Clock::time_point end_;
};

}  // namespace

std::vector<Failure> run_case(const Case& test, const CaseOptions& options) {
  Running running(options);
  for (const Step& step : test.steps) {
    std::vector<Failure> failures = running.take(step);
    if (!failures.empty()) return failures;
  }
  return {};
}

}  // namespace sluice::test
