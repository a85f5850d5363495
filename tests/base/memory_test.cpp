#include "sluice/base/memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sluice/base/error.h"

// The address sanitizer would end the program where the system's allocator returns null, which is what some
// tests here are about. Without the sanitizer nobody calls this.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}

namespace sluice {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;
constexpr size_t kMoreThanAnyMachineHas = size_t{1} << 55;

std::string error_of_request(MemoryPool& pool, size_t bytes) {
  try {
    const MemoryPool::Block block = pool.allocate(bytes);
    ADD_FAILURE() << bytes << " bytes were granted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Failed);
    return error.what();
  }
  return "";
}

TEST(MemoryPool, BlocksAreAlignedAndWritableToTheLastByte) {
  MemoryPool pool;
  for (const size_t bytes : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{1000}, size_t{4097},
                             kMegabyte + 1, 5 * kMegabyte + 3}) {
    const MemoryPool::Block block = pool.allocate(bytes);
    EXPECT_EQ(block.size(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data()) % kAlignment, 0U) << bytes;
    std::memset(block.data(), 0x5a, bytes);
    EXPECT_EQ(block.data()[bytes - 1], std::byte{0x5a});
  }
}

TEST(MemoryPool, BlocksDoNotOverlap) {
  MemoryPool pool;
  constexpr size_t kBytes = 100;
  std::vector<MemoryPool::Block> blocks;
  for (int i = 0; i < 50; ++i) {
    blocks.push_back(pool.allocate(kBytes));
    std::memset(blocks.back().data(), i, kBytes);
  }
  for (int i = 0; i < 50; ++i) {
    for (size_t at = 0; at < kBytes; ++at) ASSERT_EQ(static_cast<int>(blocks[i].data()[at]), i);
  }
}

TEST(MemoryPool, AFreedBlockIsHandedOutAgain) {
  MemoryPool pool;
  std::byte* first = pool.allocate(kMegabyte).data();
  EXPECT_EQ(pool.allocate(kMegabyte).data(), first);
}

TEST(MemoryPool, ANearlyEqualSizeReusesTheBlock) {
  MemoryPool pool;
  std::byte* first = pool.allocate(kMegabyte).data();
  EXPECT_EQ(pool.allocate(kMegabyte - 100).data(), first);
}

TEST(MemoryPool, RepeatedStepsReserveNothingMore) {
  MemoryPool pool;
  const auto step = [&] {
    std::vector<MemoryPool::Block> blocks;
    for (const size_t bytes : {size_t{100}, size_t{5000}, size_t{5000}, kMegabyte, 6 * kMegabyte}) {
      blocks.push_back(pool.allocate(bytes));
    }
  };
  step();
  const size_t reserved = pool.stats().reserved;
  for (int i = 0; i < 20; ++i) step();
  EXPECT_EQ(pool.stats().reserved, reserved);
}

TEST(MemoryPool, ASizeWastesAtMostAnEighth) {
  for (const size_t bytes : {size_t{513}, size_t{1025}, size_t{4609}, kMegabyte + 1, 3 * kMegabyte + 1}) {
    MemoryPool pool;
    const MemoryPool::Block block = pool.allocate(bytes);
    EXPECT_GE(pool.stats().in_use, bytes);
    EXPECT_LE(pool.stats().in_use, bytes + bytes / 8 + 1) << bytes;
  }
}

TEST(MemoryPool, TheHighWaterMarkIsTheMostEverInUse) {
  MemoryPool pool;
  {
    const MemoryPool::Block a = pool.allocate(kMegabyte);
    const MemoryPool::Block b = pool.allocate(2 * kMegabyte);
    EXPECT_EQ(pool.stats().in_use, 3 * kMegabyte);
  }
  const MemoryPool::Block c = pool.allocate(kMegabyte);
  EXPECT_EQ(pool.stats().in_use, kMegabyte);
  EXPECT_EQ(pool.stats().high_water, 3 * kMegabyte);
}

TEST(MemoryPool, TheHighWaterMarkRestartsFromWhatIsInUse) {
  MemoryPool pool;
  const MemoryPool::Block kept = pool.allocate(kMegabyte);
  static_cast<void>(pool.allocate(4 * kMegabyte));
  pool.reset_high_water();
  EXPECT_EQ(pool.stats().high_water, kMegabyte);
  static_cast<void>(pool.allocate(2 * kMegabyte));
  EXPECT_EQ(pool.stats().high_water, 3 * kMegabyte);
}

TEST(MemoryPool, ZeroBytesCostNothing) {
  MemoryPool pool;
  const MemoryPool::Block block = pool.allocate(0);
  EXPECT_EQ(block.data(), nullptr);
  EXPECT_EQ(block.size(), 0U);
  EXPECT_EQ(pool.stats().reserved, 0U);
  EXPECT_EQ(pool.stats().high_water, 0U);
}

TEST(MemoryPool, AMovedBlockIsReturnedOnce) {
  MemoryPool pool;
  {
    MemoryPool::Block a = pool.allocate(kMegabyte);
    std::byte* data = a.data();
    const MemoryPool::Block b = std::move(a);
    EXPECT_EQ(b.data(), data);
    EXPECT_EQ(pool.stats().in_use, kMegabyte);
  }
  EXPECT_EQ(pool.stats().in_use, 0U);
}

TEST(MemoryPool, AssigningABlockReturnsTheOldOne) {
  MemoryPool pool;
  MemoryPool::Block block = pool.allocate(kMegabyte);
  block = pool.allocate(2 * kMegabyte);
  EXPECT_EQ(block.size(), 2 * kMegabyte);
  EXPECT_EQ(pool.stats().in_use, 2 * kMegabyte);
  block = {};
  EXPECT_EQ(pool.stats().in_use, 0U);
}

TEST(MemoryPool, ABlockOutlivesThePool) {
  std::optional<MemoryPool> pool(std::in_place);
  const MemoryPool::Block block = pool->allocate(1000);
  static_cast<void>(pool->allocate(2000));  // kept for reuse when the pool goes
  pool.reset();
  std::memset(block.data(), 1, block.size());
  EXPECT_EQ(block.data()[999], std::byte{1});
}

TEST(MemoryPool, ReleaseUnusedKeepsWhatIsInUse) {
  MemoryPool pool;
  const MemoryPool::Block used = pool.allocate(kMegabyte);
  static_cast<void>(pool.allocate(2 * kMegabyte));
  static_cast<void>(pool.allocate(3000));
  EXPECT_GT(pool.stats().reserved, 3 * kMegabyte);
  pool.release_unused();
  EXPECT_EQ(pool.stats().reserved, kMegabyte);
  EXPECT_EQ(pool.stats().in_use, kMegabyte);
  std::memset(used.data(), 1, used.size());
}

TEST(MemoryPool, SaysInOneLineWhatCouldNotBeHad) {
  MemoryPool pool;
  EXPECT_EQ(error_of_request(pool, kMoreThanAnyMachineHas),
            "out of memory: a block of 36028797018963968 bytes was asked for (0 bytes are in use)");
  const MemoryPool::Block used = pool.allocate(kMegabyte);
  EXPECT_EQ(error_of_request(pool, kMoreThanAnyMachineHas),
            "out of memory: a block of 36028797018963968 bytes was asked for (1048576 bytes are in use)");
}

TEST(MemoryPool, SizesNearTheLargestNumberDoNotWrapAround) {
  constexpr size_t kLargest = std::numeric_limits<size_t>::max();
  MemoryPool pool;
  for (const size_t bytes :
       {kLargest, kLargest - 1, kLargest - 63, kLargest - 64, kLargest - (size_t{1} << 60), kLargest / 2 + 1,
        kLargest / 2, kLargest - 2 * kMegabyte}) {
    EXPECT_NE(error_of_request(pool, bytes), "");
  }
  EXPECT_EQ(pool.stats().in_use, 0U);
  EXPECT_EQ(pool.stats().reserved, 0U);
}

TEST(MemoryPool, WorksAfterARequestThatCouldNotBeMet) {
  MemoryPool pool;
  error_of_request(pool, kMoreThanAnyMachineHas);
  const MemoryPool::Block block = pool.allocate(kMegabyte);
  std::memset(block.data(), 1, block.size());
  EXPECT_EQ(pool.stats().in_use, kMegabyte);
}

TEST(MemoryPool, GivesEachOfManyThreadsItsOwnMemory) {
  MemoryPool pool;
  std::vector<std::thread> threads;
  std::vector<int> mixed_up(4);
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([&pool, &mixed_up, id] {
      for (size_t i = 0; i < 2000; ++i) {
        const size_t bytes = 100 + i % 7 * 64;
        const MemoryPool::Block block = pool.allocate(bytes);
        std::memset(block.data(), id, bytes);
        std::this_thread::yield();
        for (size_t at = 0; at < bytes; ++at) mixed_up[id] += block.data()[at] != static_cast<std::byte>(id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mixed_up, std::vector<int>(4));
  EXPECT_EQ(pool.stats().in_use, 0U);
}

}  // namespace
}  // namespace sluice
