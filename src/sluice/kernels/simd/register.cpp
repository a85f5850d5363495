#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {

void fill(Kernels<float>& table) {
  add_attention(table);
  add_elementwise(table);
  add_embedding(table);
  add_few_rows(table);
  add_few_rows_tiles(table);
  add_gate(table);
  add_gemm(table);
  add_int8(table);
  add_loss(table);
  add_norm(table);
  add_optimizer(table);
  add_pack_tiles(table);
  add_softmax(table);
  add_store_tiles(table);
  add_tiles(table);
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
