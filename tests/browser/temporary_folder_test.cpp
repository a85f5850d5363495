// That nothing outlives the tests, even if they are killed.
#include "tests/browser/temporary_folder.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

namespace sluice::test {
namespace {

constexpr std::chrono::seconds kLongestEnd{60};

// In a process of its own: makes a folder, starts something that is in no group of ours and names the folder,
// as a browser does, and tells both. Then it waits to be killed. The stray is one process that carries the
// folder as its name: a child of it would not be found by that, and who waits for our output would wait for
// the child.
[[noreturn]] void own_a_folder(int answer) {
  const TemporaryFolder folder;
  const std::string inside = folder.path("profile");
  const pid_t stray = fork();
  if (stray == 0) {
    setsid();
    execl("/bin/sleep", inside.c_str(), "600", nullptr);
    _exit(127);
  }
  std::string told = std::to_string(stray) + " " + folder.path("") + "\n";
  if (write(answer, told.data(), told.size()) < 0) _exit(1);
  for (;;) pause();
}

TEST(TemporaryFolder, takes_all_that_works_in_it_along_when_its_owner_is_killed) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  const pid_t owner = fork();
  if (owner == 0) own_a_folder(ends[1]);
  close(ends[1]);
  FILE* told = fdopen(ends[0], "r");
  int stray = 0;
  char path[512] = "";
  ASSERT_EQ(fscanf(told, "%d %511s", &stray, path), 2);
  ASSERT_TRUE(std::filesystem::exists(path));

  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);

  const auto end = std::chrono::steady_clock::now() + kLongestEnd;
  while (std::filesystem::exists(path) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(kill_all_that_name(path)) << "still there: " << stray;

  // Everything that was started held the other end of the pipe, as it holds our output.
  pollfd nobody = {ends[0], 0, 0};
  EXPECT_EQ(poll(&nobody, 1, 10'000), 1) << "something is left that holds what we had open";
  fclose(told);
}

}  // namespace
}  // namespace sluice::test
