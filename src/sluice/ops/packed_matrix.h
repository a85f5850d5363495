// Matrices packed into tiles (kernels/tiles.h) and their products: bf16 operands, sums in f32, spread over
// all threads.
#pragma once

#include "sluice/ops/context.h"

namespace sluice {

// A stored matrix: one of the two pointers is set.
struct Bf16Operand {
  const float* f32 = nullptr;
  const Bf16* bf16 = nullptr;
  int64_t stride = 0;  // elements from one stored row to the next
  Transpose transpose = Transpose::No;
};

struct PackedMatrix {
  Tensor tiles;  // [packed_count(outer, depth)], bf16
  int64_t outer = 0, depth = 0;
};

// What to pack: the operand as [outer, depth], or stored the other way round if it says transposed.
struct PackRequest {
  Bf16Operand operand;
  int64_t outer = 0, depth = 0;
  TileFormat format = TileFormat::A;
};

// f32 is rounded on the way.
PackedMatrix pack(const Context& context, const PackRequest& request);

// The same into tiles that are there already, of a whole that is packed part by part.
void pack_into(const Context& context, const PackRequest& request, Bf16* tiles);

// The same on the calling thread alone, for loops that share out more than one matrix.
void pack_here(const Context& context, const PackRequest& request, Bf16* tiles);

// An f32 matrix by its rows, or by its columns: what the product does not sum over.
PackedMatrix packed_rows(const Context& context, const Tensor& x, TileFormat format);
PackedMatrix packed_columns(const Context& context, const Tensor& x, TileFormat format);

// A · Bᵀ, written as `to` says.
void multiply(const Context& context, const PackedMatrix& a, const PackedMatrix& b,
              const StoreSums<float>& to);

// silu(A · gateᵀ) ∘ (A · upᵀ), rounded and packed as the A operand of the next product.
PackedMatrix multiply_swiglu(const Context& context, const PackedMatrix& a, const PackedMatrix& gate,
                             const PackedMatrix& up);

}  // namespace sluice
