#include "sluice/kernels/amx/peak.h"

#include <array>

#include "sluice/kernels/amx/tile_config.h"

namespace sluice::amx {
namespace {

constexpr int64_t kPairs = 16;  // a tile row holds 16 pairs of bf16, or 16 f32
constexpr int64_t kProducts = 4;
constexpr int64_t kOperationsPerProduct = 2 * kRows * kPairs * 2 * kRows;

struct alignas(64) Operand {
  std::array<uint16_t, kRows * 2 * kPairs> bf16;
};

constexpr Operand filled(uint16_t value) {
  Operand operand = {};
  for (uint16_t& element : operand.bf16) element = value;
  return operand;
}

// 1/16 each: a product adds 1/8 to every sum, which stops growing when that is less than its last bit.
constinit const Operand kOperand = filled(0x3d80);

}  // namespace

// tmm0 … tmm3 sum the products of tmm4, tmm5 with tmm6, tmm7. A product takes 16 cycles and its sum is ready
// after 52, so four keep the unit busy.
int64_t bf16_tiles(int64_t rounds, float* sink) {
  alignas(64) float sums[kRows * kPairs];
  begin_tiles();
  asm volatile(
      "tilezero %%tmm0\n\t"
      "tilezero %%tmm1\n\t"
      "tilezero %%tmm2\n\t"
      "tilezero %%tmm3\n\t"
      "tileloadd (%0,%1,1), %%tmm4\n\t"
      "tileloadd (%0,%1,1), %%tmm5\n\t"
      "tileloadd (%0,%1,1), %%tmm6\n\t"
      "tileloadd (%0,%1,1), %%tmm7" ::"r"(kOperand.bf16.data()),
      "r"(kRowBytes)
      : "memory");
  for (int64_t round = 0; round < rounds; ++round) {
    asm volatile(
        "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\t"
        "tdpbf16ps %%tmm7, %%tmm4, %%tmm1\n\t"
        "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\t"
        "tdpbf16ps %%tmm7, %%tmm5, %%tmm3" ::
            : "memory");
  }
  asm volatile("tilestored %%tmm0, (%0,%1,1)" ::"r"(sums), "r"(kRowBytes) : "memory");
  end_tiles();
  *sink = sums[0];
  return rounds * kProducts * kOperationsPerProduct;
}

}  // namespace sluice::amx
