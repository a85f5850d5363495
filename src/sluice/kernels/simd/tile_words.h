// A tile as words of two bf16.
#pragma once

#include "sluice/kernels/simd/transpose_words.h"
#include "sluice/kernels/tiles.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

using Words = uint32_t[kTileRows][kTileRows];

inline void transpose_words(const Words& from, Words& to) {
  for (int64_t r = 0; r < kTileRows; r += 8) {
    for (int64_t c = 0; c < kTileRows; c += 8) transpose_eight(&from[r][c], kTileRows, &to[c][r], kTileRows);
  }
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
