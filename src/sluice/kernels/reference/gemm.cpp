#include "sluice/kernels/reference/register.h"

namespace sluice::reference {
namespace {

template <class T>
void gemm(const Gemm<T>& g) {
  for (int64_t row = 0; row < g.m; ++row) {
    for (int64_t col = 0; col < g.n; ++col) {
      T sum = 0;
      for (int64_t i = 0; i < g.k; ++i) {
        const T a = g.a_transpose == Transpose::Yes ? g.a[i * g.a_stride + row] : g.a[row * g.a_stride + i];
        const T b = g.b_transpose == Transpose::Yes ? g.b[col * g.b_stride + i] : g.b[i * g.b_stride + col];
        sum += a * b;
      }
      T& c = g.c[row * g.c_stride + col];
      c = g.output == Output::Accumulate ? c + sum : sum;
    }
  }
}

}  // namespace

template <class T>
void add_gemm(Kernels<T>& table) {
  table.gemm = gemm<T>;
}

template void add_gemm(Kernels<float>&);
template void add_gemm(Kernels<double>&);

}  // namespace sluice::reference
