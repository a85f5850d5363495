// The f32 matrix product of OpenBLAS, on the calling thread only.
#pragma once

#include <string>

#include "sluice/kernels/gemm.h"

namespace sluice::blas {

void gemm(const Gemm<float>& g);

// Keeps OpenBLAS from starting threads of its own, which would fight with ours and make results depend on
// their number. Process-wide, because OpenBLAS knows no other way.
void use_one_thread();

// The kernels OpenBLAS chose for this CPU, e.g. "Zen". It chooses by itself: --isa does not reach it, the
// environment variable OPENBLAS_CORETYPE does.
std::string core_name();

}  // namespace sluice::blas
