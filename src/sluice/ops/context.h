// What every op gets besides its operands: the engine, the tape if gradients are wanted, the
// probe if somebody watches.
// A small value: copy it to switch the tape for a part of the computation.
#pragma once

#include <algorithm>

#include "sluice/ops/engine.h"

namespace sluice {

class Tape;
class Probe;  // nn/tap.h

// What the operands of matrix products are rounded to; sums, and everything else, are f32 either way.
enum class Precision { F32, Bf16 };

// Whether a weight that a product packs is packed for that one use, or stays packed for the next.
enum class Packing { Once, Keep };

// Whether blocks keep their intermediates for the gradient or compute them again; the values are the same.
enum class Activations { Keep, Recompute };

struct Context {
  Engine& engine;
  Tape* tape = nullptr;    // none: inference, nothing is kept
  Probe* probe = nullptr;  // none: nobody looks
  Precision precision = Precision::F32;
  Packing packing = Packing::Once;
  Activations activations = Activations::Keep;

  Context with_tape(Tape* other) const { return with(&Context::tape, other); }
  Context with_probe(Probe* other) const { return with(&Context::probe, other); }
  Context with_precision(Precision other) const { return with(&Context::precision, other); }
  Context with_packing(Packing other) const { return with(&Context::packing, other); }

  const Threads& threads() const { return engine.threads(); }

  template <class T>
  const Kernels<T>& kernels() const {
    return engine.kernels<T>();
  }

  // Runs a kernel over `n` indices, each touching about `width` elements, on all threads.
  template <class Args>
  void run(RangeKernel<Args> kernel, const Args& args, int64_t n, int64_t width) const {
    // About 64 KiB of f32 per thread at least: less is done before another thread has started.
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(width, 1));
    threads().split(n, grain, [&](Range range) { kernel(args, range); });
  }

  Tensor empty(const Shape& shape, DType dtype) const { return Tensor::empty(engine.pool(), shape, dtype); }
  Tensor zeros(const Shape& shape, DType dtype) const { return Tensor::zeros(engine.pool(), shape, dtype); }
  Tensor empty_like(const Tensor& other) const { return empty(other.shape(), other.dtype()); }

 private:
  template <class Value>
  Context with(Value Context::*member, Value value) const {
    Context other = *this;
    other.*member = value;
    return other;
  }
};

// Calls body(T{}) with the C++ type of a floating-point dtype that kernels compute in.
template <class Body>
decltype(auto) with_compute_type(const char* op, DType dtype, Body&& body) {
  SLUICE_ASSERT(dtype == DType::F32 || dtype == DType::F64, "{}: cannot compute in {}", op, name_of(dtype));
  return dtype == DType::F64 ? body(double{}) : body(float{});
}

}  // namespace sluice
