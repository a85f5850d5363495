#include "sluice/base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <streambuf>
#include <thread>
#include <vector>

namespace sluice {
namespace {

// Takes one character at a time and lets other threads run in between.
class HesitantBuffer : public std::streambuf {
 public:
  const std::string& text() const { return text_; }

 protected:
  int_type overflow(int_type c) override {
    text_ += traits_type::to_char_type(c);
    std::this_thread::yield();
    return c;
  }

 private:
  std::string text_;
};

std::string everything_logged_at(LogLevel level) {
  std::ostringstream out;
  Log log(level, out);
  log.error("cannot read {}", "x.json");
  log.warn("{} of {} skipped", 1, 2);
  log.info("step {}", 3);
  log.debug("pool {:.1f} MiB", 1.5);
  return out.str();
}

TEST(Log, QuietPrintsErrorsOnly) {
  EXPECT_EQ(everything_logged_at(LogLevel::Quiet), "sluice: error: cannot read x.json\n");
}

TEST(Log, NormalPrintsAllButDebug) {
  EXPECT_EQ(everything_logged_at(LogLevel::Normal),
            "sluice: error: cannot read x.json\n"
            "sluice: warning: 1 of 2 skipped\n"
            "sluice: step 3\n");
}

TEST(Log, VerbosePrintsDebugToo) {
  EXPECT_EQ(everything_logged_at(LogLevel::Verbose),
            "sluice: error: cannot read x.json\n"
            "sluice: warning: 1 of 2 skipped\n"
            "sluice: step 3\n"
            "sluice: pool 1.5 MiB\n");
}

TEST(Log, KeepsAMessageOnOneLineAndOffTheTerminalControls) {
  std::ostringstream out;
  Log log(LogLevel::Normal, out);
  log.info("{}", "two\nlines \x1b[31m\n");
  EXPECT_EQ(out.str(), "sluice: two lines  [31m\n");
}

TEST(Log, GoesToStderrByDefault) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  Log log;
  log.info("hello");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "sluice: hello\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Log, LinesOfThreadsDoNotMix) {
  HesitantBuffer buffer;
  std::ostream out(&buffer);
  Log log(LogLevel::Normal, out);
  std::vector<std::thread> threads;
  for (char letter : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&log, letter] {
      for (int i = 0; i < 50; ++i) log.info("{}", std::string(50, letter));
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::istringstream lines(buffer.text());
  std::string line;
  int count = 0;
  for (; std::getline(lines, line); ++count) {
    ASSERT_EQ(line.size(), std::string_view("sluice: ").size() + 50) << line;
    ASSERT_EQ(std::count(line.begin() + 8, line.end(), line.back()), 50) << line;
  }
  EXPECT_EQ(count, 200);
}

}  // namespace
}  // namespace sluice
