#include "sluice/kernels/reference/register.h"

namespace sluice::reference {

template <class T>
Kernels<T> table() {
  Kernels<T> table;
  add_attention(table);
  add_elementwise(table);
  add_embedding(table);
  add_few_rows(table);
  add_gate(table);
  add_gemm(table);
  add_int8(table);
  add_loss(table);
  add_norm(table);
  add_optimizer(table);
  add_softmax(table);
  add_tiles(table);
  return table;
}

template Kernels<float> table();
template Kernels<double> table();

}  // namespace sluice::reference
