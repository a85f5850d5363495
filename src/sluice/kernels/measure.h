// How fast this machine is, measured: the peaks that every reported share refers to.
#pragma once

#include <optional>

#include "sluice/base/memory.h"
#include "sluice/base/threads.h"
#include "sluice/kernels/peak.h"

namespace sluice {

// Medians over repetitions, on one core and on all threads at once.
struct Rate {
  double one_core = 0;
  double all_threads = 0;
};

struct MachinePeaks {
  Rate f32_flops;                  // multiply-adds in registers, floating-point operations per second
  std::optional<Rate> bf16_flops;  // tiles; none without a tile unit
  Rate read_bandwidth;             // bytes per second from memory
};

// The arithmetic alone, on all threads: of the tiles, or of multiply-adds in f32 where there are none or
// f32 is asked for. Floating-point operations per second; takes a quarter of a second.
enum class Arithmetic { F32, Bf16 };
double measure_arithmetic(const PeakKernels& kernels, const Threads& threads, Arithmetic arithmetic);

// Takes about two seconds.
MachinePeaks measure_peaks(const PeakKernels& kernels, const Threads& threads, MemoryPool& pool);

}  // namespace sluice
