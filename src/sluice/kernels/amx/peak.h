// The tile unit at its limit. Call only where detect_cpu found working tiles.
#pragma once

#include <cstdint>

namespace sluice::amx {

// PeakKernels::bf16_products: four tile products a round, in registers only.
int64_t bf16_tiles(int64_t rounds, float* sink);

}  // namespace sluice::amx
