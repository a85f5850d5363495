// sluice_command_tests [--slow] FILE...: the cases of these files as tests, each with its own name. The usual
// options of gtest choose among them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "tests/commands/runner/read_cases.h"
#include "tests/commands/runner/run_case.h"

namespace sluice::test {
namespace {

constexpr int kSkipped = 77;  // to ctest

const std::string kGoldens = SLUICE_GOLDENS;

const CaseOptions kOptions = {
    .variables = {{"BASELINE", kGoldens + "/tiny_baseline"},
                  {"HEADWISE", kGoldens + "/tiny_gate_headwise"},
                  {"MODEL", kGoldens + "/tiny_gate_elementwise"},
                  {"TESTS", SLUICE_TESTS},
                  {"VERSION", SLUICE_VERSION}},
    .path = SLUICE_PROGRAM_FOLDER,
};

class CommandTest : public testing::Test {
 public:
  CommandTest(std::string file, Case test) : file_(std::move(file)), case_(std::move(test)) {}

  void TestBody() override {
    for (const std::string& needed : case_.needed) {
      if (needed == "mpi") {
        if (!SLUICE_HAS_MPI) GTEST_SKIP() << "this build has no MPI";
      } else if (!find_program(needed)) {
        GTEST_SKIP() << needed << " is not installed";
      }
    }
    for (const Failure& failure : run_case(case_, kOptions))
      ADD_FAILURE_AT(file_.c_str(), failure.line) << failure.message;
  }

 private:
  std::string file_;
  Case case_;
};

// As gtest wants it, which filters by it: "eval.tells_bits_per_byte".
std::string name_of(const std::string& title) {
  std::string name = title;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

int add_tests(const std::filesystem::path& file, bool slow) {
  int count = 0;
  for (const Case& test : read_cases(file)) {
    if (test.slow != slow) continue;
    ++count;
    const auto make = [=, name = file.string()]() -> testing::Test* { return new CommandTest(name, test); };
    testing::RegisterTest(name_of(file.stem().string()).c_str(), name_of(test.title).c_str(), nullptr,
                          nullptr, file.c_str(), test.line, make);
  }
  return count;
}

int run(std::vector<std::string> arguments) {
  const bool slow = std::erase(arguments, "--slow") > 0;
  int count = 0;
  try {
    for (const std::string& file : arguments) count += add_tests(file, slow);
  } catch (const MalformedCases& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  if (arguments.empty()) {
    std::fprintf(stderr, "usage: sluice_command_tests [--slow] FILE...\n");
    return 2;
  }
  if (count == 0) {
    std::printf("no %s cases here\n", slow ? "slow" : "quick");
    return kSkipped;
  }
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace sluice::test

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  return sluice::test::run({arguments + 1, arguments + count});
}
