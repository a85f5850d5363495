#include "sluice/base/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "sluice/base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#define SLUICE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLUICE_ASAN 1
#endif
#endif
#ifdef SLUICE_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace sluice {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

// Eight classes per power of two: at most an eighth is wasted, and near-equal sizes share blocks.
size_t size_class(size_t bytes) {
  const size_t step = std::max(kAlignment, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

std::byte* system_allocate(size_t capacity) {
  const bool huge = capacity >= 2 * kHugePage;
  const size_t alignment = huge ? kHugePage : kAlignment;
  const size_t rounded = (capacity + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  // Only a hint: fewer TLB misses on large matrices where the kernel allows it.
  if (memory != nullptr && huge) madvise(memory, rounded, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

void system_free(std::byte* data, size_t capacity) {
  ASAN_UNPOISON_MEMORY_REGION(data, capacity);
  std::free(data);
}

}  // namespace

struct MemoryPool::Block::Free {
  mutable std::mutex mutex;
  std::map<size_t, std::vector<std::byte*>> by_capacity;
  MemoryStats stats;

  ~Free() { release_all(); }

  std::byte* take(size_t capacity) {
    const auto found = by_capacity.find(capacity);
    if (found == by_capacity.end() || found->second.empty()) return nullptr;
    std::byte* data = found->second.back();
    found->second.pop_back();
    return data;
  }

  void release_all() {
    for (auto& [capacity, blocks] : by_capacity) {
      for (std::byte* data : blocks) system_free(data, capacity);
      stats.reserved -= capacity * blocks.size();
    }
    by_capacity.clear();
  }
};

MemoryPool::Block::Block(Block&& other) noexcept
    : home_(std::move(other.home_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

MemoryPool::Block& MemoryPool::Block::operator=(Block&& other) noexcept {
  std::swap(home_, other.home_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

MemoryPool::Block::~Block() {
  if (data_ == nullptr) return;
  const std::scoped_lock lock(home_->mutex);
  home_->stats.in_use -= capacity_;
  ASAN_POISON_MEMORY_REGION(data_, capacity_);
  try {
    home_->by_capacity[capacity_].push_back(data_);
  } catch (const std::bad_alloc&) {
    // Blocks are returned while a program that is out of memory unwinds: then there may be no room to note
    // it.
    system_free(data_, capacity_);
    home_->stats.reserved -= capacity_;
  }
}

MemoryPool::MemoryPool() : free_(std::make_shared<Block::Free>()) {}

MemoryPool::Block MemoryPool::allocate(size_t bytes) {
  Block block;
  if (bytes == 0) return block;
  const size_t capacity = size_class(bytes);
  const bool overflowed = capacity < bytes;
  {
    const std::scoped_lock lock(free_->mutex);
    block.data_ = overflowed ? nullptr : free_->take(capacity);
    if (block.data_ == nullptr && !overflowed) {
      block.data_ = system_allocate(capacity);
      if (block.data_ == nullptr) {
        free_->release_all();  // the memory may be there, only cut into other sizes
        block.data_ = system_allocate(capacity);
      }
      if (block.data_ != nullptr) free_->stats.reserved += capacity;
    }
    if (block.data_ == nullptr) {
      throw failure({.what = fmt::format("out of memory: a block of {} bytes was asked for", bytes),
                     .hint = fmt::format("{} bytes are in use", free_->stats.in_use)});
    }
    free_->stats.in_use += capacity;
    free_->stats.high_water = std::max(free_->stats.high_water, free_->stats.in_use);
  }
  ASAN_UNPOISON_MEMORY_REGION(block.data_, bytes);
  ASAN_POISON_MEMORY_REGION(block.data_ + bytes, capacity - bytes);
  block.home_ = free_;
  block.size_ = bytes;
  block.capacity_ = capacity;
  return block;
}

MemoryStats MemoryPool::stats() const {
  const std::scoped_lock lock(free_->mutex);
  return free_->stats;
}

void MemoryPool::reset_high_water() {
  const std::scoped_lock lock(free_->mutex);
  free_->stats.high_water = free_->stats.in_use;
}

void MemoryPool::release_unused() {
  const std::scoped_lock lock(free_->mutex);
  free_->release_all();
}

}  // namespace sluice
