#include "sluice/ops/bf16_matmul.h"

namespace sluice {
namespace {

Bf16Operand turned(Bf16Operand operand) {
  operand.transpose = operand.transpose == Transpose::Yes ? Transpose::No : Transpose::Yes;
  return operand;
}

}  // namespace

void bf16_matmul(const Context& context, const Bf16Product& product) {
  const PackedMatrix a =
      pack(context, {.operand = product.a, .outer = product.m, .depth = product.k, .format = TileFormat::A});
  // B is given as [k, n], but packed by its columns.
  const PackedMatrix b =
      pack(context,
           {.operand = turned(product.b), .outer = product.n, .depth = product.k, .format = TileFormat::B});
  multiply(context, a, b,
           {.m = product.m,
            .n = product.n,
            .c = product.c,
            .c_stride = product.c_stride,
            .addend = product.output == Output::Accumulate ? product.c : nullptr,
            .addend_stride = product.c_stride});
}

}  // namespace sluice
