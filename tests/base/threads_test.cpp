#include "sluice/base/threads.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

const std::vector<int64_t> kSizes = {0, 1, 2, 3, 5, 7, 8, 63, 64, 65, 1000, 4097};
const std::vector<int64_t> kGrains = {-1, 0, 1, 2, 3, 7, 64, 10'000};
const std::vector<int> kCounts = {1, 2, 3, 5, 16};

// Two threads that meet in an element are seen as a 2 there, a forgotten element as a 0.
using Visits = std::vector<std::atomic<int>>;

void expect_each_once(const Visits& visits, const std::string& what) {
  for (size_t i = 0; i < visits.size(); ++i) ASSERT_EQ(visits[i], 1) << what << ", index " << i;
}

TEST(Threads, SplitCoversEveryIndexOnce) {
  for (const int count : kCounts) {
    const Threads threads(count);
    for (const int64_t n : kSizes) {
      for (const int64_t grain : kGrains) {
        Visits visits(static_cast<size_t>(n));
        threads.split(n, grain, [&](Range range) {
          for (int64_t i = range.begin; i < range.end; ++i) ++visits.at(static_cast<size_t>(i));
        });
        expect_each_once(visits, fmt::format("{} threads, n {}, grain {}", count, n, grain));
      }
    }
  }
}

std::vector<int64_t> sizes_of_ranges(const Threads& threads, int64_t n, int64_t grain) {
  std::mutex mutex;
  std::vector<int64_t> sizes;
  threads.split(n, grain, [&](Range range) {
    const std::scoped_lock lock(mutex);
    sizes.push_back(range.size());
  });
  return sizes;
}

TEST(Threads, SplitKeepsToTheGrain) {
  for (const int count : kCounts) {
    for (const int64_t n : kSizes) {
      for (const int64_t grain : kGrains) {
        for (const int64_t size : sizes_of_ranges(Threads(count), n, grain)) {
          EXPECT_GE(size, std::min(std::max<int64_t>(grain, 1), n))
              << fmt::format("{} threads, n {}, grain {}", count, n, grain);
        }
      }
    }
  }
}

TEST(Threads, SplitMakesAsManyRangesForEachThreadWhenTheWorkSuffices) {
  for (const int count : kCounts) {
    for (const int64_t n : {int64_t{count}, int64_t{2 * count + 1}, int64_t{1000}}) {
      const auto ranges = std::ssize(sizes_of_ranges(Threads(count), n, 1));
      EXPECT_EQ(ranges % count, 0) << fmt::format("{} threads, n {}", count, n);
      EXPECT_LE(ranges, 4 * count) << fmt::format("{} threads, n {}", count, n);
    }
  }
  EXPECT_EQ(sizes_of_ranges(Threads(1), 1000, 1).size(), 1U) << "alone there is nobody to hand a rest to";
  EXPECT_EQ(sizes_of_ranges(Threads(5), 3, 1).size(), 3U);
}

// Both bodies wait for each other, so one thread alone would never come to an end.
TEST(Threads, LoopsRunOnSeveralThreads) {
  for (const bool split : {true, false}) {
    std::atomic<int> arrived = 0;
    const auto meet = [&] {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
    };
    if (split) {
      Threads(2).split(2, 1, [&](Range) { meet(); });
    } else {
      Threads(2).each(2, [&](int64_t) { meet(); });
    }
    EXPECT_EQ(arrived, 2);
  }
}

// A thread that is held up in one piece leaves the others of its share to whoever has time.
TEST(Threads, SplitLetsTheOthersDoWhatAHeldUpThreadHasNotBegun) {
  constexpr int kOthers = 7;  // of 8 ranges on two threads
  std::atomic<int> others = 0;
  Threads(2).split(8, 1, [&](Range range) {
    if (range.begin == 0) {
      while (others < kOthers) std::this_thread::yield();
    } else {
      ++others;
    }
  });
  EXPECT_EQ(others, kOthers);
}

TEST(Threads, EachVisitsEveryIndexOnce) {
  for (const int count : kCounts) {
    for (const int64_t n : kSizes) {
      Visits visits(static_cast<size_t>(n));
      Threads(count).each(n, [&](int64_t i) { ++visits.at(static_cast<size_t>(i)); });
      expect_each_once(visits, fmt::format("{} threads, n {}", count, n));
    }
  }
}

TEST(Threads, NothingIsCalledForNothing) {
  for (const int count : kCounts) {
    const Threads threads(count);
    for (const int64_t n : {0, -1, -100}) {
      threads.split(n, 1, [](Range) { ADD_FAILURE() << "split called its body"; });
      threads.each(n, [](int64_t) { ADD_FAILURE() << "each called its body"; });
    }
  }
}

TEST(Threads, AnExceptionComesOutOfSplit) {
  for (const int count : kCounts) {
    try {
      Threads(count).split(100, 1, [](Range range) {
        if (range.end == 100) throw std::runtime_error("the last piece");
      });
      ADD_FAILURE() << count << " threads: nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "the last piece");
    }
  }
}

TEST(Threads, AnExceptionComesOutOfEachAndEndsTheLoop) {
  constexpr int64_t kMany = 100'000;
  for (const int count : kCounts) {
    std::atomic<int64_t> calls = 0;
    try {
      Threads(count).each(kMany, [&](int64_t) {
        ++calls;
        throw std::runtime_error("stop");
      });
      ADD_FAILURE() << count << " threads: nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "stop");
    }
    EXPECT_LE(calls, count) << "only the calls under way may still throw";
  }
}

TEST(Threads, WorkAfterAnException) {
  const Threads threads(4);
  EXPECT_THROW(threads.each(8, [](int64_t) { throw std::runtime_error("stop"); }), std::runtime_error);
  Visits visits(8);
  threads.each(8, [&](int64_t i) { ++visits.at(static_cast<size_t>(i)); });
  expect_each_once(visits, "after an exception");
}

TEST(Threads, NestedLoopsCoverEveryIndexOnce) {
  const Threads threads(3);
  Visits visits(6 * 50);
  threads.each(6, [&](int64_t outer) {
    threads.split(50, 1, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) ++visits.at(static_cast<size_t>(outer * 50 + i));
    });
  });
  expect_each_once(visits, "nested");
}

TEST(Threads, LoopsNestDeeperThanThereIsHelpFor) {
  const Threads threads(2);
  std::atomic<int> leaves = 0;
  const std::function<void(int)> descend = [&](int depth) {
    if (depth == 0) {
      ++leaves;
      return;
    }
    threads.each(2, [&](int64_t) { descend(depth - 1); });
  };
  descend(10);
  EXPECT_EQ(leaves, 1 << 10);
}

TEST(Threads, ServeSeveralCallersAtTheSameTime) {
  const Threads threads(3);
  constexpr int kCallers = 12, kLoops = 50, kItems = 40;
  std::vector<Visits> visits;
  for (int i = 0; i < kCallers; ++i) visits.emplace_back(kItems);
  std::vector<std::thread> callers;
  for (Visits& own : visits) {
    callers.emplace_back([&] {
      for (int loop = 0; loop < kLoops; ++loop)
        threads.each(kItems, [&](int64_t i) { ++own.at(static_cast<size_t>(i)); });
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const Visits& own : visits) {
    for (const auto& count : own) EXPECT_EQ(count, kLoops);
  }
}

TEST(Threads, ACopySharesTheThreadsAndOutlivesTheOriginal) {
  auto original = std::make_unique<Threads>(3);
  original->each(3, [](int64_t) {});
  const Threads copy = *original;
  original.reset();
  Visits visits(100);
  copy.each(100, [&](int64_t i) { ++visits.at(static_cast<size_t>(i)); });
  expect_each_once(visits, "copy");
}

std::set<std::string> threads_of_this_process() {
  std::set<std::string> ids;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    ids.insert(task.path().filename());
  return ids;
}

// How many there are now that were not there before. Those of an earlier test may still be on the kernel's
// list, and leave it at any time, so the number of all would say nothing.
int64_t started_since(const std::set<std::string>& before) {
  const std::set<std::string> now = threads_of_this_process();
  return std::ranges::count_if(now, [&](const std::string& id) { return !before.contains(id); });
}

TEST(Threads, StartWithTheFirstLoopThatNeedsThemAndEndWithTheObject) {
  const std::set<std::string> before = threads_of_this_process();
  {
    const Threads threads(4);
    threads.split(10, 10, [](Range) {});
    EXPECT_EQ(started_since(before), 0) << "one range needs no help";
    threads.each(10, [](int64_t) {});
    EXPECT_EQ(started_since(before), 3);
  }
  // The kernel wakes whoever joins a thread before it takes the thread off its list.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (started_since(before) != 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(started_since(before), 0);
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(Threads, CostNothingWhileTheyWait) {
  const Threads threads(4);
  threads.each(10, [](int64_t) {});
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(processor_seconds() - before, 0.03);
}

// A caller whose part of the work is done sleeps until the others have finished theirs.
TEST(Threads, CostNothingWhileACallerWaits) {
  const Threads threads(2);
  std::atomic<int> arrived = 0;
  const double before = processor_seconds();
  threads.each(2, [&](int64_t i) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();  // one thread each
    if (i == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  });
  EXPECT_LT(processor_seconds() - before, 0.1);
}

// The child has the object but not its threads.
TEST(Threads, WorkInAForkedChild) {
  auto threads = std::make_unique<Threads>(3);
  threads->each(10, [](int64_t) {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::atomic<int> calls = 0;
    threads->each(10, [&](int64_t) { ++calls; });
    threads.reset();
    _exit(calls == 10 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Threads, AnExceptionComesOutOfANestedLoop) {
  const Threads threads(3);
  const auto inner = [&](int64_t) { threads.split(10, 1, [](Range) { throw std::runtime_error("deep"); }); };
  EXPECT_THROW(threads.each(6, inner), std::runtime_error);
}

TEST(Threads, ZeroMeansAllUsableCores) {
  EXPECT_EQ(Threads(0).count(), usable_cores());
  EXPECT_EQ(Threads().count(), usable_cores());
  EXPECT_GE(usable_cores(), 1);
  EXPECT_EQ(Threads(7).count(), 7);
}

TEST(Threads, UsableCoresFollowTheAffinityMask) {
  cpu_set_t before;
  if (sched_getaffinity(0, sizeof before, &before) != 0) GTEST_SKIP() << "no affinity mask here";
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const int cores = usable_cores();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(cores, 1);
}

TEST(Threads, RefusesANegativeCount) {
  EXPECT_THROW(Threads(-1), AssertionError);
}

TEST(Threads, end_at_any_moment) {
  for (int i = 0; i < 2000; ++i) {
    std::atomic<int> done = 0;
    const Threads threads(4);
    threads.each(8, [&](int64_t) { ++done; });
    ASSERT_EQ(done, 8);
  }
}

}  // namespace
}  // namespace sluice
