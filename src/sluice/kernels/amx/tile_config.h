// The one tile configuration that is used here: eight tiles of 16 rows of 64 bytes.
#pragma once

#include <cstdint>

namespace sluice::amx {

inline constexpr int64_t kRowBytes = 64;
inline constexpr int64_t kRows = 16;

struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {kRowBytes, kRowBytes, kRowBytes, kRowBytes,
                            kRowBytes, kRowBytes, kRowBytes, kRowBytes};
  uint8_t rows[16] = {kRows, kRows, kRows, kRows, kRows, kRows, kRows, kRows};
};
static_assert(sizeof(TileConfig) == 64);

// Not on the stack: see tile_self_test.cpp for what happens to a configuration there. Neither this nor the
// functions are shared between files, as some of them are built for AVX-512.
static constinit const TileConfig kTileConfig;

// The tiles of this thread are usable from now on, with undefined contents.
static inline void begin_tiles() {
  asm volatile("ldtilecfg %0" ::"m"(kTileConfig) : "memory");
}

// Without this the system would save and restore 8 KiB at every switch of threads.
static inline void end_tiles() {
  asm volatile("tilerelease" ::: "memory");
}

}  // namespace sluice::amx
