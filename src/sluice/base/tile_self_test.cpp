#include "sluice/base/tile_self_test.h"

#if defined(__x86_64__)

#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace sluice {
namespace {

constexpr int kRows = 16;
constexpr int kPairs = 16;  // a tile row holds 16 pairs of bf16, or 16 f32

struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64};
  uint8_t rows[16] = {kRows, kRows, kRows};
};
static_assert(sizeof(TileConfig) == 64);

uint16_t bf16(int small) {  // exact for the small integers used here
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(small)) >> 16);
}

// Assembler instead of intrinsics: this file is built without -mamx-*, so nothing here can use AMX unasked.
// The "memory" clobbers also keep the compiler from dropping stores to the configuration (g++ 12 believes
// that the load reads eight bytes only).
void multiply(const TileConfig& config, const uint16_t* a, const uint16_t* b, float* c) {
  const int64_t stride = 64;
  asm volatile("ldtilecfg %0" ::"m"(config) : "memory");
  asm volatile("tilezero %%tmm0" ::: "memory");
  asm volatile("tileloadd (%0,%1,1), %%tmm1" ::"r"(a), "r"(stride) : "memory");
  asm volatile("tileloadd (%0,%1,1), %%tmm2" ::"r"(b), "r"(stride) : "memory");
  asm volatile("tdpbf16ps %%tmm2, %%tmm1, %%tmm0" ::: "memory");
  asm volatile("tilestored %%tmm0, (%0,%1,1)" ::"r"(c), "r"(stride) : "memory");
  asm volatile("tilerelease" ::: "memory");
}

bool product_is_right() {
  static const TileConfig config;
  alignas(64) static uint16_t a[kRows * 2 * kPairs];  // [row][2·pair]
  alignas(64) static uint16_t b[kPairs * 2 * kRows];  // [pair][2·column], the two rows of a pair interleaved
  alignas(64) static float c[kRows * kRows];
  const auto a_at = [](int row, int k) { return (row + k) % 5 - 2; };
  const auto b_at = [](int k, int column) { return (3 * k + column) % 7 - 3; };
  for (int row = 0; row < kRows; ++row) {
    for (int k = 0; k < 2 * kPairs; ++k) {
      a[row * 2 * kPairs + k] = bf16(a_at(row, k));
      b[(k / 2) * 2 * kRows + 2 * row + k % 2] = bf16(b_at(k, row));
    }
  }
  multiply(config, a, b, c);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kRows; ++column) {
      int expected = 0;
      for (int k = 0; k < 2 * kPairs; ++k) expected += a_at(row, k) * b_at(k, column);
      if (c[row * kRows + column] != static_cast<float>(expected)) return false;
    }
  }
  return true;
}

// Without what libraries do before a fork(): OpenBLAS joins a thread of its own, which asks for memory
// without an end where the system refuses it. The child needs nothing of that: it multiplies and leaves.
pid_t bare_fork() {
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 34)
  return _Fork();
#endif
#endif
  return fork();
}

}  // namespace

bool tiles_multiply_correctly() {
  const pid_t child = bare_fork();
  if (child < 0) return false;
  if (child == 0) {
    // The default action, not a handler of the embedding program: a trap must end this process at once.
    std::signal(SIGILL, SIG_DFL);
    std::signal(SIGSEGV, SIG_DFL);
    _exit(product_is_right() ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace sluice

#else

namespace sluice {

bool tiles_multiply_correctly() {
  return false;
}

}  // namespace sluice

#endif
