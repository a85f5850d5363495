#include "sluice/ablate/shared_chunks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "sluice/base/error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

class SharedChunksOfProcesses : public testing::Test {
 protected:
  SharedChunks open(const std::string& weights = "crc32 1") const {
    return {PieceFolder(directory_.path() / ".pieces"), {{"the weights", weights}}};
  }

  // Every chunk's nll is its number.
  SharedChunks::Compute counting() {
    return [this](int64_t chunk) {
      const std::lock_guard lock(mutex_);
      ++runs_[chunk];
      return std::vector<LogEntry>{
          {.key = {.chunk = chunk}, .measures = {.nll = {.sum = static_cast<double>(chunk), .tokens = 1}}}};
    };
  }

  // All chunks, one after the other, as rounds ask for them.
  double sum_of(const SharedChunks& shared, std::vector<int64_t> chunks) {
    double sum = 0;
    for (; !chunks.empty(); chunks.erase(chunks.begin()))
      for (const LogEntry& entry : shared.get({}, chunks, counting(), {})) sum += entry.measures.nll.sum;
    return sum;
  }

  TemporaryDirectory directory_;
  std::mutex mutex_;
  std::map<int64_t, int> runs_;  // of each chunk
};

TEST_F(SharedChunksOfProcesses, are_run_once_and_known_to_all) {
  std::atomic<int> right = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back([&] {
      if (sum_of(open(), {3, 1, 4, 5, 9, 2}) == 24) ++right;
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(right, 3);
  EXPECT_EQ(runs_.size(), 6U);
  for (const auto& [chunk, count] : runs_) EXPECT_EQ(count, 1) << "chunk " << chunk;
}

TEST_F(SharedChunksOfProcesses, of_another_ablation_do_not_count) {
  sum_of(open(), {1, 2});
  sum_of(open("crc32 2"), {1, 2});
  EXPECT_EQ(runs_[1], 2);
  sum_of(open("crc32 2"), {1, 2});
  EXPECT_EQ(runs_[1], 2);
}

TEST_F(SharedChunksOfProcesses, end_when_the_job_is_cancelled) {
  const SharedChunks shared = open();
  std::vector<int64_t> chunks = {1};
  const JobControl cancelled{.cancelled = [] { return true; }};
  EXPECT_THROW(shared.get({}, chunks, counting(), cancelled), Error);
  EXPECT_TRUE(runs_.empty());
}

}  // namespace
}  // namespace sluice
