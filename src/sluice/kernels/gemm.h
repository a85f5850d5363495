// Matrix product. A scalar twin in reference/, OpenBLAS in blas/, and in simd/ one for CPUs that OpenBLAS
// does not know.
#pragma once

#include <cstdint>

namespace sluice {

enum class Transpose { No, Yes };
enum class Output { Overwrite, Accumulate };

// C[m, n] = op(A)[m, k] · op(B)[k, n], or added to C. Row-major; a stride is the distance of two stored rows.
template <class T>
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;  // [m, k], or [k, m] if transposed
  int64_t a_stride = 0;
  Transpose a_transpose = Transpose::No;
  const T* b = nullptr;  // [k, n], or [n, k] if transposed
  int64_t b_stride = 0;
  Transpose b_transpose = Transpose::No;
  T* c = nullptr;
  int64_t c_stride = 0;
  Output output = Output::Overwrite;
};

}  // namespace sluice
