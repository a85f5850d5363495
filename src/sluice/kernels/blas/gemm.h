// The f32 matrix product of OpenBLAS, on the calling thread only unless a benchmark asks for more.
#pragma once

#include <string>
#include <string_view>

#include "sluice/kernels/gemm.h"

namespace sluice::blas {

// Throws std::bad_alloc if the system has no memory for what OpenBLAS needs to work with.
void gemm(const Gemm<float>& g);

// Keeps OpenBLAS from starting threads of its own, which would fight with ours and make results depend on
// their number. Process-wide, because OpenBLAS knows no other way.
void use_one_thread();

// How many threads may call gemm() at the same time; process-wide, the most that was said counts.
void expect_callers(int threads);

// For the time of a comparison: OpenBLAS as it is used elsewhere, with threads of its own.
class OwnThreads {
 public:
  explicit OwnThreads(int count);
  ~OwnThreads() { use_one_thread(); }
  OwnThreads(const OwnThreads&) = delete;
  OwnThreads& operator=(const OwnThreads&) = delete;
};

// The kernels OpenBLAS chose for this CPU, e.g. "Zen". It chooses by itself: --isa does not reach it, the
// environment variable OPENBLAS_CORETYPE does.
std::string core_name();

// Whether the kernels of that name use AVX2 or more. A CPU that OpenBLAS has not heard of gets those for SSE3
// of "Prescott", a fifth as fast: there kernels/simd/gemm.cpp multiplies.
bool is_fast_core(std::string_view core);

}  // namespace sluice::blas
