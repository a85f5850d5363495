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
  std::optional<Rate> bf16_flops;  // none without instructions for them
  Rate read_bandwidth;             // bytes per second from memory
};

enum class Peak { F32Flops, Bf16Flops, ReadBandwidth };

// Measures one peak at a time on all threads, shortly enough to do it beside every repetition of a benchmark:
// what else the machine does then slows both.
class PeakMeter {
 public:
  PeakMeter(const PeakKernels& kernels, const Threads& threads, MemoryPool& pool);

  // Operations or bytes per second, median of a few; takes less than a tenth of a second. Bf16Flops only
  // where the kernels have it.
  double measure(Peak peak);

 private:
  double measure_burst(int64_t (*burst)(int64_t, float*), int64_t& rounds) const;

  PeakKernels kernels_;
  const Threads& threads_;
  MemoryPool& pool_;
  int64_t f32_rounds_ = 0, bf16_rounds_ = 0;  // 0: not calibrated yet
  MemoryPool::Block reads_ = {};              // made on first use
};

// All of them. Takes about two seconds.
MachinePeaks measure_peaks(const PeakKernels& kernels, const Threads& threads, MemoryPool& pool);

}  // namespace sluice
