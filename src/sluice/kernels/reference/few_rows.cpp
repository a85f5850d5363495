#include "sluice/kernels/reference/register.h"

namespace sluice::reference {
namespace {

double widened(double w) {
  return w;
}
double widened(Bf16 w) {
  return to_float(w);
}

template <class T, class W>
void few_rows(const FewRowsProduct<T, W>& args, Range outputs) {
  for (int64_t o = outputs.begin; o < outputs.end; ++o) {
    for (int64_t r = 0; r < args.rows; ++r) {
      T sum = 0;
      for (int64_t i = 0; i < args.k; ++i)
        sum += args.x[r * args.k + i] * static_cast<T>(widened(args.weight[o * args.k + i]));
      T& y = args.y[r * args.y_stride + o];
      y = args.output == Output::Accumulate ? y + sum : sum;
    }
  }
}

}  // namespace

template <class T>
void add_few_rows(Kernels<T>& table) {
  table.few_rows = few_rows<T, T>;
  table.few_rows_bf16 = few_rows<T, Bf16>;
}

template void add_few_rows(Kernels<float>&);
template void add_few_rows(Kernels<double>&);

}  // namespace sluice::reference
