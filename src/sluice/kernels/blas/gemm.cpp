#include "sluice/kernels/blas/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <array>

namespace sluice::blas {
namespace {

CBLAS_TRANSPOSE flag(Transpose transpose) {
  return transpose == Transpose::Yes ? CblasTrans : CblasNoTrans;
}

}  // namespace

void gemm(const Gemm<float>& g) {
  if (g.m == 0 || g.n == 0) return;
  const float keep = g.output == Output::Accumulate ? 1.0F : 0.0F;
  // BLAS demands strides of at least one even where nothing is read.
  const auto stride = [](int64_t s) { return static_cast<int>(std::max<int64_t>(s, 1)); };
  cblas_sgemm(CblasRowMajor, flag(g.a_transpose), flag(g.b_transpose), static_cast<int>(g.m),
              static_cast<int>(g.n), static_cast<int>(g.k), 1.0F, g.a, stride(g.a_stride), g.b,
              stride(g.b_stride), keep, g.c, stride(g.c_stride));
}

void use_one_thread() {
  openblas_set_num_threads(1);
}

OwnThreads::OwnThreads(int count) {
  openblas_set_num_threads(count);
}

std::string core_name() {
  return openblas_get_corename();
}

bool is_fast_core(std::string_view core) {
  constexpr std::array<std::string_view, 5> kFast = {"Haswell", "Zen", "SkylakeX", "Cooperlake",
                                                     "SapphireRapids"};
  return std::find(kFast.begin(), kFast.end(), core) != kFast.end();
}

}  // namespace sluice::blas
