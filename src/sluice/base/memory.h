// Pooled, aligned memory. A training step asks for the same sizes every time, so freed blocks are kept and
// handed out again: no page faults after the first step. Safe to use from several threads.
#pragma once

#include <cstddef>
#include <memory>

namespace sluice {

// Cache line and widest vector register alike.
inline constexpr size_t kAlignment = 64;

struct MemoryStats {
  size_t in_use = 0;      // bytes handed out now
  size_t high_water = 0;  // the most that was handed out at once since the last reset
  size_t reserved = 0;    // bytes held from the system: in use, or kept for reuse
};

class MemoryPool {
 public:
  // Memory from the pool, returned to it on destruction. A block may outlive the pool object.
  class Block {
   public:
    Block() = default;
    Block(Block&& other) noexcept;
    Block& operator=(Block&& other) noexcept;
    ~Block();

    std::byte* data() const { return data_; }
    size_t size() const { return size_; }

   private:
    friend class MemoryPool;
    struct Free;
    std::shared_ptr<Free> home_;
    std::byte* data_ = nullptr;
    size_t size_ = 0;      // as asked for
    size_t capacity_ = 0;  // as reserved: the size class
  };

  MemoryPool();

  // Uninitialised memory aligned to kAlignment; throws an Error of kind Failed when the system has none left.
  Block allocate(size_t bytes);

  MemoryStats stats() const;
  void reset_high_water();

  // Gives the kept blocks back to the system.
  void release_unused();

 private:
  std::shared_ptr<Block::Free> free_;
};

}  // namespace sluice
