#include "sluice/base/threads.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
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

TEST(Threads, SplitKeepsToTheCountAndTheGrain) {
  for (const int count : kCounts) {
    for (const int64_t n : kSizes) {
      for (const int64_t grain : kGrains) {
        std::mutex mutex;
        std::vector<int64_t> sizes;
        Threads(count).split(n, grain, [&](Range range) {
          const std::scoped_lock lock(mutex);
          sizes.push_back(range.size());
        });
        const std::string what = fmt::format("{} threads, n {}, grain {}", count, n, grain);
        EXPECT_LE(sizes.size(), static_cast<size_t>(count)) << what;
        for (const int64_t size : sizes) EXPECT_GE(size, std::min(std::max<int64_t>(grain, 1), n)) << what;
      }
    }
  }
}

TEST(Threads, SplitUsesAllThreadsWhenTheWorkSuffices) {
  for (const int count : kCounts) {
    std::atomic<int> calls = 0;
    Threads(count).split(100, 1, [&](Range) { ++calls; });
    EXPECT_EQ(calls, count);
  }
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

}  // namespace
}  // namespace sluice
