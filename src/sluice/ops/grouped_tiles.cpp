#include "sluice/ops/grouped_tiles.h"

#include <cstring>
#include <limits>

#include "sluice/ops/weight_forms.h"

namespace sluice {
namespace {

constexpr int64_t kPairRows = kStripsPerPair * kTileRows;
constexpr int64_t kUnitOuter = kUnitPairs * kPairRows;

// Rows that a thread packs at once.
constexpr int64_t kPackedAtOnce = 2 * kPairRows;

PackedGroups empty_groups(const Context& context, const RowGroups& groups, int64_t depth) {
  PackedGroups packed{.tiles = {}, .starts = {0}, .depth = depth};
  for (int64_t g = 0; g < groups.count(); ++g)
    packed.starts.push_back(packed.starts.back() + packed_count(groups.rows(g).size(), depth));
  packed.tiles = context.empty({packed.starts.back()}, DType::BF16);
  return packed;
}

template <class Body>
void for_group_units(const Context& context, const std::vector<GroupUnit>& units, const Body& body) {
  context.threads().each(static_cast<int64_t>(units.size()),
                         [&](int64_t i) { body(units[static_cast<size_t>(i)]); });
}

// Of rows [begin, end) of a group's A operand and B's outputs from its first on.
TileUnit tile_unit(Range rows, int64_t outputs) {
  return {.a_begin = rows.begin / kPairRows,
          .a_end = strip_pairs(rows.end),
          .b_begin = 0,
          .b_end = strip_pairs(outputs),
          .a_half = (rows.end - 1) % kPairRows < kTileRows};
}

// Calls body(rows) for pieces of at most as many rows as a unit of tiles may have.
template <class Body>
void for_row_blocks(Range rows, const Body& body) {
  for (int64_t row = rows.begin; row < rows.end; row += kUnitOuter)
    body(Range{row, std::min(row + kUnitOuter, rows.end)});
}

// Row `row` of an A operand: 64 bytes in each tile of its strip.
Bf16* packed_row(Bf16* tiles, int64_t row, int64_t depth_tiles) {
  return tiles + (row / kTileRows * depth_tiles * kTileRows + row % kTileRows) * kTileDepth;
}

// A matrix seen by its columns, as operands of dyᵀ · x: [columns, rows of the group].
PackTiles<float> columns_of_group(const Tensor& x, Range rows, TileFormat format, Bf16* tiles) {
  return {.x = x.data<float>() + rows.begin * x.cols(),
          .stride = x.cols(),
          .transpose = Transpose::Yes,
          .outer = x.cols(),
          .depth = rows.size(),
          .format = format,
          .tiles = tiles};
}

PackedGroups packed_columns_of_groups(const Context& context, const Tensor& x, const RowGroups& groups,
                                      TileFormat format) {
  PackedGroups packed{.tiles = {}, .starts = {0}, .depth = 0};
  for (int64_t g = 0; g < groups.count(); ++g)
    packed.starts.push_back(packed.starts.back() + packed_count(x.cols(), groups.rows(g).size()));
  packed.tiles = context.empty({packed.starts.back()}, DType::BF16);
  std::vector<GroupUnit> units;
  for (int64_t g = 0; g < groups.count(); ++g)
    add_units(units, g, {.rows = 1, .outputs = x.cols()}, {.rows = 1, .outputs = kUnitOuter});
  for_group_units(context, units, [&](const GroupUnit& unit) {
    Bf16* tiles = packed.tiles.data<Bf16>() + packed.starts[static_cast<size_t>(unit.group)];
    context.kernels<float>().pack_tiles(columns_of_group(x, groups.rows(unit.group), format, tiles),
                                        {unit.outputs.begin / kPairRows, strip_pairs(unit.outputs.end)});
  });
  return packed;
}

}  // namespace

PackedGroups packed_groups(const Context& context, const Tensor& x, const RowGroups& groups) {
  const PackedGroups packed = empty_groups(context, groups, x.cols());
  for_group_units(
      context, units_of(groups, 1, {.rows = kPackedAtOnce, .outputs = 1}), [&](const GroupUnit& unit) {
        const Range rows = groups.rows(unit.group);
        const PackTiles<float> args{
            .x = x.data<float>() + rows.begin * x.cols(),
            .stride = x.cols(),
            .outer = rows.size(),
            .depth = x.cols(),
            .tiles = packed.tiles.data<Bf16>() + packed.starts[static_cast<size_t>(unit.group)]};
        context.kernels<float>().pack_tiles(args, {unit.rows.begin / kPairRows, strip_pairs(unit.rows.end)});
      });
  return packed;
}

PackedGroups gathered_groups(const Context& context, const Tensor& x, const Tensor& tokens,
                             const RowGroups& groups) {
  const PackedMatrix source = packed_rows(context, x, TileFormat::A);
  const PackedGroups packed = empty_groups(context, groups, x.cols());
  const int64_t depth_tiles = tiles_of_depth(x.cols());
  const auto copy_row = [&](int64_t token, Bf16* to) {
    const Bf16* from = packed_row(source.tiles.data<Bf16>(), token, depth_tiles);
    for (int64_t p = 0; p < depth_tiles; ++p)
      std::memcpy(to + p * kTileElements, from + p * kTileElements, kTileDepth * sizeof(Bf16));
  };
  const auto clear_row = [&](Bf16* to) {
    for (int64_t p = 0; p < depth_tiles; ++p) std::fill_n(to + p * kTileElements, kTileDepth, Bf16{});
  };
  for_group_units(context, units_of(groups, 1, {.rows = kPackedAtOnce, .outputs = 1}),
                  [&](const GroupUnit& unit) {
                    const Range rows = groups.rows(unit.group);
                    Bf16* tiles = packed.tiles.data<Bf16>() + packed.starts[static_cast<size_t>(unit.group)];
                    for (int64_t r = unit.rows.begin; r < strip_pairs(unit.rows.end) * kPairRows; ++r) {
                      Bf16* to = packed_row(tiles, r, depth_tiles);
                      if (r < unit.rows.end) {
                        copy_row(tokens.data<int32_t>()[rows.begin + r], to);
                      } else {
                        clear_row(to);
                      }
                    }
                  });
  return packed;
}

GroupWeights::GroupWeights(const Context& context, std::span<const Weight> weights, Transpose transpose,
                           const RowGroups& groups)
    : weights_(weights), transpose_(transpose) {
  const WeightOperand first{weights.front().dense().value(), transpose};
  outputs_ = first.outer();
  depth_ = first.depth();
  if (context.packing != Packing::Keep) return;
  kept_.resize(weights.size());
  for (int64_t g = 0; g < groups.count(); ++g) {
    const auto i = static_cast<size_t>(g);
    if (groups.rows(g).size() > 0) kept_[i] = weights[i].packed(context, transpose);
  }
}

const Bf16* GroupWeights::part(const Context& context, const GroupUnit& unit, Tensor& scratch) const {
  const auto g = static_cast<size_t>(unit.group);
  if (is_kept()) return kept_[g].tiles.data<Bf16>() + packed_count(unit.outputs.begin, depth_);
  if (!scratch.defined()) scratch = context.empty({packed_count(kUnitOuter, depth_)}, DType::BF16);
  const WeightOperand operand{weights_[g].dense().value(), transpose_};
  pack_here(context, operand.part(unit.outputs), scratch.data<Bf16>());
  return scratch.data<Bf16>();
}

int64_t unit_rows(const GroupWeights& weights) {
  // A part that a unit packs itself is used for all rows of its group.
  return weights.is_kept() ? kUnitOuter : std::numeric_limits<int64_t>::max() / 2;
}

void multiply_unit(const Context& context, const PackedGroups& a, const GroupWeights& weights,
                   const GroupUnit& unit, const StoreSums<float>& group_rows) {
  const Kernels<float>& kernels = context.kernels<float>();
  const Tensor sums = context.empty({kTileWorkspace}, DType::F32);
  Tensor scratch;
  const TileOperands operands{
      .a = a.of(unit.group), .b = weights.part(context, unit, scratch), .depth = a.depth};
  StoreSums<float> to = group_rows;
  to.n = unit.outputs.size();
  to.c += unit.outputs.begin;
  for_row_blocks(unit.rows, [&](Range rows) {
    const TileUnit tiles = tile_unit(rows, to.n);
    kernels.tile_sums(operands, tiles, sums.data<float>());
    kernels.store_sums(to, tiles, sums.data<float>());
  });
}

Tensor multiply_groups(const Context& context, const PackedGroups& a, const RowGroups& groups,
                       const GroupWeights& weights) {
  const Tensor y = context.empty({groups.total(), weights.outputs()}, DType::F32);
  const UnitSize step{.rows = unit_rows(weights), .outputs = kUnitOuter};
  for_group_units(context, units_of(groups, weights.outputs(), step), [&](const GroupUnit& unit) {
    const Range rows = groups.rows(unit.group);
    multiply_unit(context, a, weights, unit,
                  {.m = rows.size(), .c = y.data<float>() + rows.begin * y.cols(), .c_stride = y.cols()});
  });
  return y;
}

PackedGroups multiply_swiglu_groups(const Context& context, const PackedGroups& a, const RowGroups& groups,
                                    const GroupWeights& gate, const GroupWeights& up) {
  const Kernels<float>& kernels = context.kernels<float>();
  const PackedGroups h = empty_groups(context, groups, gate.outputs());
  const UnitSize step{.rows = unit_rows(gate), .outputs = kUnitOuter};
  for_group_units(context, units_of(groups, gate.outputs(), step), [&](const GroupUnit& unit) {
    const Tensor gate_sums = context.empty({kTileWorkspace}, DType::F32);
    const Tensor up_sums = context.empty({kTileWorkspace}, DType::F32);
    Tensor gate_part, up_part;
    const TileOperands of_gate{
        .a = a.of(unit.group), .b = gate.part(context, unit, gate_part), .depth = a.depth};
    const TileOperands of_up{.a = a.of(unit.group), .b = up.part(context, unit, up_part), .depth = a.depth};
    // Outputs are the depth of h: this unit's begin some tiles further.
    const StoreSwiglu to{.n = h.depth,
                         .tiles = h.tiles.data<Bf16>() + h.starts[static_cast<size_t>(unit.group)] +
                                  unit.outputs.begin / kTileDepth * kTileElements};
    for_row_blocks(unit.rows, [&](Range rows) {
      const TileUnit tiles = tile_unit(rows, unit.outputs.size());
      kernels.tile_sums(of_gate, tiles, gate_sums.data<float>());
      kernels.tile_sums(of_up, tiles, up_sums.data<float>());
      kernels.store_swiglu(to, tiles, gate_sums.data<float>(), up_sums.data<float>());
    });
  });
  return h;
}

void multiply_gradient_groups(const Context& context, const Tensor& dy, const Tensor& x,
                              const RowGroups& groups, std::span<const Destination> to) {
  const Kernels<float>& kernels = context.kernels<float>();
  const PackedGroups a = packed_columns_of_groups(context, dy, groups, TileFormat::A);
  const PackedGroups b = packed_columns_of_groups(context, x, groups, TileFormat::B);
  std::vector<GroupUnit> units;
  for (int64_t g = 0; g < groups.count(); ++g) {
    if (to[static_cast<size_t>(g)].tensor.defined())
      add_units(units, g, {dy.cols(), x.cols()}, {kUnitOuter, kUnitOuter});
  }
  for_group_units(context, units, [&](const GroupUnit& unit) {
    const auto& [tensor, output] = to[static_cast<size_t>(unit.group)];
    const Tensor sums = context.empty({kTileWorkspace}, DType::F32);
    const TileUnit tiles{.a_begin = unit.rows.begin / kPairRows,
                         .a_end = strip_pairs(unit.rows.end),
                         .b_begin = unit.outputs.begin / kPairRows,
                         .b_end = strip_pairs(unit.outputs.end)};
    kernels.tile_sums({.a = a.of(unit.group), .b = b.of(unit.group), .depth = groups.rows(unit.group).size()},
                      tiles, sums.data<float>());
    kernels.store_sums({.m = dy.cols(),
                        .n = x.cols(),
                        .c = tensor.data<float>(),
                        .c_stride = x.cols(),
                        .addend = output == Output::Accumulate ? tensor.data<float>() : nullptr,
                        .addend_stride = x.cols()},
                       tiles, sums.data<float>());
  });
}

}  // namespace sluice
