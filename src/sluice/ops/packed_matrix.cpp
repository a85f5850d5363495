#include "sluice/ops/packed_matrix.h"

#include <algorithm>

namespace sluice {
namespace {

template <class E>
PackTiles<E> elements(const E* x, const PackRequest& request, Bf16* tiles) {
  return {.x = x,
          .stride = request.operand.stride,
          .transpose = request.operand.transpose,
          .outer = request.outer,
          .depth = request.depth,
          .format = request.format,
          .tiles = tiles};
}

// A product cut into units of at most kUnitPairs by `b_step` pairs of strips.
struct Cut {
  int64_t a_pairs, b_pairs, b_step;

  int64_t rows() const { return (a_pairs + kUnitPairs - 1) / kUnitPairs; }
  int64_t columns() const { return (b_pairs + b_step - 1) / b_step; }
  TileUnit unit(int64_t index) const {
    const int64_t i = index / columns() * kUnitPairs, j = index % columns() * b_step;
    return {.a_begin = i,
            .a_end = std::min(i + kUnitPairs, a_pairs),
            .b_begin = j,
            .b_end = std::min(j + b_step, b_pairs)};
  }
};

// Calls body(unit) for all units, on all threads.
template <class Body>
void for_units(const Context& context, const Cut& cut, const Body& body) {
  context.threads().each(cut.rows() * cut.columns(), [&](int64_t index) { body(cut.unit(index)); });
}

TileOperands operands(const PackedMatrix& a, const PackedMatrix& b) {
  SLUICE_ASSERT(a.depth == b.depth, "multiply: depths {} and {}", a.depth, b.depth);
  return {.a = a.tiles.data<Bf16>(), .b = b.tiles.data<Bf16>(), .depth = a.depth};
}

}  // namespace

PackedMatrix pack(const Context& context, const PackRequest& request) {
  const PackedMatrix packed{.tiles = context.empty({packed_count(request.outer, request.depth)}, DType::BF16),
                            .outer = request.outer,
                            .depth = request.depth};
  pack_into(context, request, packed.tiles.data<Bf16>());
  return packed;
}

void pack_into(const Context& context, const PackRequest& request, Bf16* tiles) {
  const Kernels<float>& kernels = context.kernels<float>();
  const auto& [f32, bf16, stride, transpose] = request.operand;
  const int64_t pairs = strip_pairs(request.outer), width = request.depth * kTileRows * kStripsPerPair;
  if (bf16 != nullptr) {
    context.run(kernels.pack_tiles_bf16, elements(bf16, request, tiles), pairs, width);
  } else {
    context.run(kernels.pack_tiles, elements(f32, request, tiles), pairs, width);
  }
}

void pack_here(const Context& context, const PackRequest& request, Bf16* tiles) {
  const Kernels<float>& kernels = context.kernels<float>();
  const Range all{0, strip_pairs(request.outer)};
  if (request.operand.bf16 != nullptr) {
    kernels.pack_tiles_bf16(elements(request.operand.bf16, request, tiles), all);
  } else {
    kernels.pack_tiles(elements(request.operand.f32, request, tiles), all);
  }
}

PackedMatrix packed_rows(const Context& context, const Tensor& x, TileFormat format) {
  return pack(context, {.operand = {.f32 = x.data<float>(), .stride = x.cols()},
                        .outer = x.rows(),
                        .depth = x.cols(),
                        .format = format});
}

PackedMatrix packed_columns(const Context& context, const Tensor& x, TileFormat format) {
  return pack(context, {.operand = {.f32 = x.data<float>(), .stride = x.cols(), .transpose = Transpose::Yes},
                        .outer = x.cols(),
                        .depth = x.rows(),
                        .format = format});
}

void multiply(const Context& context, const PackedMatrix& a, const PackedMatrix& b,
              const StoreSums<float>& to) {
  const Kernels<float>& kernels = context.kernels<float>();
  const TileOperands both = operands(a, b);
  for_units(context, {strip_pairs(a.outer), strip_pairs(b.outer), kUnitPairs}, [&](const TileUnit& unit) {
    const Tensor sums = context.empty({kTileWorkspace}, DType::F32);
    kernels.tile_sums(both, unit, sums.data<float>());
    kernels.store_sums(to, unit, sums.data<float>());
  });
}

PackedMatrix multiply_swiglu(const Context& context, const PackedMatrix& a, const PackedMatrix& gate,
                             const PackedMatrix& up) {
  const PackedMatrix h{.tiles = context.empty({packed_count(a.outer, gate.outer)}, DType::BF16),
                       .outer = a.outer,
                       .depth = gate.outer};
  const StoreSwiglu to{.n = h.depth, .tiles = h.tiles.data<Bf16>()};
  const Kernels<float>& kernels = context.kernels<float>();
  const TileOperands of_gate = operands(a, gate), of_up = operands(a, up);
  // Half as wide: the sums of both have to stay in a cache.
  for_units(context, {strip_pairs(a.outer), strip_pairs(gate.outer), kUnitPairs / 2},
            [&](const TileUnit& unit) {
              const Tensor gate_sums = context.empty({kTileWorkspace}, DType::F32);
              const Tensor up_sums = context.empty({kTileWorkspace}, DType::F32);
              kernels.tile_sums(of_gate, unit, gate_sums.data<float>());
              kernels.tile_sums(of_up, unit, up_sums.data<float>());
              kernels.store_swiglu(to, unit, gate_sums.data<float>(), up_sums.data<float>());
            });
  return h;
}

}  // namespace sluice
