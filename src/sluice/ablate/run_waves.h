// Which runs of a chunk go through the layers together. All of them, if their streams fit into memory. Else
// some at a time, in the order of the layers where they begin, so that what is computed once more of the
// unbroken model is little: only the layers where runs of a later wave begin.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sluice/ablate/run_entry.h"
#include "sluice/base/threads.h"

namespace sluice {

struct RunWave {
  std::vector<size_t> runs;  // indices of entries, in their order
  // Layers of the unbroken model that the wave needs: the first all, later ones those where its runs begin.
  Range base_layers = {};
};

struct WaveLimits {
  int64_t memory = 0;  // bytes
  int64_t tokens = 0;  // of the chunk, that are fed
};

// One wave at least, even of no runs; one run in each at least.
std::vector<RunWave> run_waves(std::span<const RunEntry> entries, const ModelConfig& config,
                               const WaveLimits& limits);

// Bytes that so many runs take together, beside the weights.
int64_t wave_memory(int64_t runs, const ModelConfig& config, const WaveLimits& limits);

// Runs that pass a layer as one batch: as many as bring no further gain from packing.
int64_t runs_per_pass(int64_t tokens);

}  // namespace sluice
