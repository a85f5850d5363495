// The machine as the ops see it: threads, memory and the chosen kernels. One per program is usual, several
// are fine.
#pragma once

#include "sluice/base/memory.h"
#include "sluice/base/threads.h"
#include "sluice/kernels/dispatch.h"
#include "sluice/tensor/tensor.h"

namespace sluice {

struct EngineOptions {
  int threads = 0;      // 0: all cores granted to this process
  IsaRequest isa = {};  // empty: SLUICE_ISA, and without it the best this CPU has
};

class Engine {
 public:
  explicit Engine(const EngineOptions& options = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const CpuFeatures& cpu() const { return cpu_; }
  const IsaChoice& isa() const { return isa_; }
  const Threads& threads() const { return threads_; }
  MemoryPool& pool() { return pool_; }

  template <class T>
  const Kernels<T>& kernels() const;

 private:
  CpuFeatures cpu_;
  IsaChoice isa_;
  Threads threads_;
  MemoryPool pool_;
  Kernels<float> f32_;
  Kernels<double> f64_;
};

template <>
inline const Kernels<float>& Engine::kernels() const {
  return f32_;
}

template <>
inline const Kernels<double>& Engine::kernels() const {
  return f64_;
}

}  // namespace sluice
