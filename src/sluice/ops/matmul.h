// A matrix product on all threads.
#pragma once

#include "sluice/kernels/gemm.h"
#include "sluice/ops/context.h"

namespace sluice {

// Cuts the product into output tiles whose size depends on the shape alone, so that every number of threads
// gives the same result, and runs the engine's kernel on each.
template <class T>
void matmul(const Context& context, const Gemm<T>& whole);

}  // namespace sluice
