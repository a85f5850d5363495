#include "sluice/ops/grouped_product.h"

#include <optional>

#include "sluice/ops/weight_product.h"

namespace sluice {
namespace {

constexpr int64_t kAllRows = int64_t{1} << 62;

// As large as the dense products cut theirs.
UnitSize unit_size(ProductPath path, const Context& context) {
  switch (path) {
    case ProductPath::Int8:
    case ProductPath::FewRows:
      return {.rows = kAllRows, .outputs = 64};
    case ProductPath::Tiles:
      // Whoever packs a part of a weight uses it for all rows.
      return {.rows = context.packing == Packing::Keep ? 256 : kAllRows,
              .outputs = kUnitPairs * kStripsPerPair * kTileRows};
    case ProductPath::Gemm:
      return {.rows = 256, .outputs = 512};
  }
  return {};
}

// One pass over the weights of all groups.
template <class T>
class GroupedForward {
 public:
  GroupedForward(const Context& context, GroupedInput& x, std::span<const Weight> weights)
      : context_(context),
        x_(x),
        weights_(weights),
        y_(context.empty({x.groups().total(), weights.front().outputs()}, x.unsorted().dtype())) {
    for (int64_t g = 0; g < x.groups().count(); ++g) add_group(g);
  }

  Tensor compute() {
    prepare();
    context_.threads().each(static_cast<int64_t>(units_.size()),
                            [&](int64_t i) { run(units_[static_cast<size_t>(i)]); });
    return y_;
  }

 private:
  void add_group(int64_t group) {
    const auto g = static_cast<size_t>(group);
    const int64_t rows = x_.groups().rows(group).size();
    paths_.push_back(product_path(context_, weights_[g], rows));
    if (rows == 0) return;
    used_[static_cast<size_t>(paths_.back())] = true;
    add_units(units_, group, {rows, y_.cols()}, unit_size(paths_.back(), context_));
  }

  bool uses(ProductPath path) const { return used_[static_cast<size_t>(path)]; }

  // Whatever threads share is made before the loop.
  void prepare() {
    if (uses(ProductPath::FewRows) || uses(ProductPath::Gemm)) x_.rows(context_);
    if constexpr (std::is_same_v<T, float>) {
      if (uses(ProductPath::FewRows) && weights_.front().dense().dtype() == DType::BF16) x_.rounded(context_);
      if (uses(ProductPath::Int8)) x_.quantized(context_);
      if (!uses(ProductPath::Tiles)) return;
      x_.packed(context_);
      tiles_.emplace(context_, weights_, Transpose::Yes, groups_on_tiles());
    }
  }

  // Weights that few rows read as they are stored need not be packed.
  RowGroups groups_on_tiles() const {
    RowGroups groups;
    for (int64_t g = 0; g < x_.groups().count(); ++g) {
      const bool tiles = paths_[static_cast<size_t>(g)] == ProductPath::Tiles;
      groups.starts.push_back(groups.total() + (tiles ? x_.groups().rows(g).size() : 0));
    }
    return groups;
  }

  T* first_row(const GroupUnit& unit) const {
    return y_.data<T>() + x_.groups().rows(unit.group).begin * y_.cols();
  }

  void run(const GroupUnit& unit) {
    switch (paths_[static_cast<size_t>(unit.group)]) {
      case ProductPath::FewRows:
        return run_few(unit);
      case ProductPath::Gemm:
        return run_gemm(unit);
      case ProductPath::Int8:
        if constexpr (std::is_same_v<T, float>) return run_int8(unit);
        break;
      case ProductPath::Tiles:
        if constexpr (std::is_same_v<T, float>) {
          return multiply_unit(
              context_, x_.packed(context_), *tiles_, unit,
              {.m = x_.groups().rows(unit.group).size(), .c = first_row(unit), .c_stride = y_.cols()});
        }
        break;
    }
  }

  void run_gemm(const GroupUnit& unit) {
    const Tensor& weight = weight_of_unit(unit).dense().value();
    const int64_t first = x_.groups().rows(unit.group).begin + unit.rows.begin, k = weight.cols();
    context_.kernels<T>().gemm({.m = unit.rows.size(),
                                .n = unit.outputs.size(),
                                .k = k,
                                .a = x_.rows(context_).template data<T>() + first * k,
                                .a_stride = k,
                                .b = weight.data<T>() + unit.outputs.begin * k,
                                .b_stride = k,
                                .b_transpose = Transpose::Yes,
                                .c = y_.data<T>() + first * y_.cols() + unit.outputs.begin,
                                .c_stride = y_.cols()});
  }

  template <class W>
  FewRowsProduct<T, W> few_rows(const GroupUnit& unit, const Tensor& x) {
    const Range rows = x_.groups().rows(unit.group);
    return {.rows = rows.size(),
            .k = x.cols(),
            .x = x.data<T>() + rows.begin * x.cols(),
            .weight = weight_of_unit(unit).dense().value().template data<W>(),
            .y = first_row(unit),
            .y_stride = y_.cols()};
  }

  void run_few(const GroupUnit& unit) {
    const Kernels<T>& kernels = context_.kernels<T>();
    if constexpr (std::is_same_v<T, float>) {
      if (weight_of_unit(unit).dense().dtype() == DType::BF16) return run_few_bf16(unit);
    }
    kernels.few_rows(few_rows<T>(unit, x_.rows(context_)), unit.outputs);
  }

  // Packed ones if a longer pass has left them behind: the elements may have left memory.
  void run_few_bf16(const GroupUnit& unit) {
    const Weight& weight = weight_of_unit(unit);
    const Tensor& x = x_.rounded(context_);
    const PackedMatrix packed =
        context_.packing == Packing::Keep ? weight.packed_if_kept(Transpose::Yes) : PackedMatrix();
    if (!packed.tiles.defined())
      return context_.kernels<float>().few_rows_bf16(few_rows<Bf16>(unit, x), unit.outputs);
    const Range rows = x_.groups().rows(unit.group);
    const FewRowsTiles<float> args{
        .rows = rows.size(),
        .depth = x.cols(),
        .x = x.data<float>() + rows.begin * x.cols(),
        .b = packed.tiles.data<Bf16>(),
        .y = {.m = rows.size(), .n = y_.cols(), .c = first_row(unit), .c_stride = y_.cols()}};
    context_.kernels<float>().few_rows_tiles(
        args, {unit.outputs.begin / kTileRows, (unit.outputs.end + kTileRows - 1) / kTileRows});
  }

  void run_int8(const GroupUnit& unit) {
    const Int8Matrix& weight = weight_of_unit(unit).int8();
    const QuantizedInput& x = x_.quantized(context_);
    const int64_t first = x_.groups().rows(unit.group).begin;
    context_.kernels<float>().int8_rows({.rows = unit.rows.size(),
                                         .k = weight.cols,
                                         .outputs = weight.rows,
                                         .x = {.q = x.q.data<int8_t>() + first * x.q.cols(),
                                               .scales = x.scales.data<float>() + first * x.scales.cols(),
                                               .sums = x.sums.data<int32_t>() + first * x.sums.cols()},
                                         .weight = weight.values.data<int8_t>(),
                                         .weight_scales = weight.scales.data<float>(),
                                         .y = first_row(unit),
                                         .y_stride = y_.cols()},
                                        {unit.outputs.begin / kInt8Outputs, int8_blocks(unit.outputs.end)});
  }

  const Weight& weight_of_unit(const GroupUnit& unit) const {
    return weights_[static_cast<size_t>(unit.group)];
  }

  const Context& context_;
  GroupedInput& x_;
  std::span<const Weight> weights_;
  Tensor y_;
  std::vector<ProductPath> paths_;  // of the groups
  bool used_[4] = {};               // by path
  std::vector<GroupUnit> units_;
  std::optional<GroupWeights> tiles_;
};

bool gradient_on_tiles(const Context& context, const Tensor& dy) {
  return dy.dtype() == DType::F32 && context.precision == Precision::Bf16;
}

// Gemms of all groups, one for each unit.
template <class T, class Make>
void run_gemms(const Context& context, const std::vector<GroupUnit>& units, const Make& make) {
  context.threads().each(static_cast<int64_t>(units.size()), [&](int64_t i) {
    const Gemm<T> gemm = make(units[static_cast<size_t>(i)]);
    context.kernels<T>().gemm(gemm);
  });
}

}  // namespace

template <class T>
Tensor multiply_forward(const Context& context, GroupedInput& x, std::span<const Weight> weights) {
  return GroupedForward<T>(context, x, weights).compute();
}

template <class T>
Tensor multiply_backward(const Context& context, const Tensor& dy, const RowGroups& groups,
                         std::span<const Weight> weights) {
  if constexpr (std::is_same_v<T, float>) {
    if (gradient_on_tiles(context, dy))
      return multiply_groups(context, packed_groups(context, dy, groups), groups,
                             GroupWeights(context, weights, Transpose::No, groups));
  }
  const int64_t inputs = weights.front().inputs();
  const Tensor dx = context.empty({groups.total(), inputs}, dy.dtype());
  const auto units = units_of(groups, inputs, unit_size(ProductPath::Gemm, context));
  run_gemms<T>(context, units, [&](const GroupUnit& unit) -> Gemm<T> {
    const int64_t first = groups.rows(unit.group).begin + unit.rows.begin;
    const Tensor& weight = weights[static_cast<size_t>(unit.group)].dense().value();
    return {.m = unit.rows.size(),
            .n = unit.outputs.size(),
            .k = dy.cols(),
            .a = dy.data<T>() + first * dy.cols(),
            .a_stride = dy.cols(),
            .b = weight.data<T>() + unit.outputs.begin,
            .b_stride = inputs,
            .c = dx.data<T>() + first * inputs + unit.outputs.begin,
            .c_stride = inputs};
  });
  return dx;
}

template <class T>
void multiply_gradient(const Context& context, const Tensor& dy, GroupedInput& x,
                       std::span<const Destination> to) {
  const Tensor& rows = x.rows(context);
  if constexpr (std::is_same_v<T, float>) {
    if (gradient_on_tiles(context, dy)) return multiply_gradient_groups(context, dy, rows, x.groups(), to);
  }
  std::vector<GroupUnit> units;
  for (int64_t g = 0; g < x.groups().count(); ++g) {
    if (to[static_cast<size_t>(g)].tensor.defined())
      add_units(units, g, {dy.cols(), rows.cols()}, unit_size(ProductPath::Gemm, context));
  }
  run_gemms<T>(context, units, [&](const GroupUnit& unit) -> Gemm<T> {
    const Range group = x.groups().rows(unit.group);
    const auto& [tensor, output] = to[static_cast<size_t>(unit.group)];
    return {.m = unit.rows.size(),
            .n = unit.outputs.size(),
            .k = group.size(),
            .a = dy.data<T>() + group.begin * dy.cols() + unit.rows.begin,
            .a_stride = dy.cols(),
            .a_transpose = Transpose::Yes,
            .b = rows.data<T>() + group.begin * rows.cols() + unit.outputs.begin,
            .b_stride = rows.cols(),
            .c = tensor.template data<T>() + unit.rows.begin * rows.cols() + unit.outputs.begin,
            .c_stride = rows.cols(),
            .output = output};
  });
}

template Tensor multiply_forward<float>(const Context&, GroupedInput&, std::span<const Weight>);
template Tensor multiply_forward<double>(const Context&, GroupedInput&, std::span<const Weight>);
template Tensor multiply_backward<float>(const Context&, const Tensor&, const RowGroups&,
                                         std::span<const Weight>);
template Tensor multiply_backward<double>(const Context&, const Tensor&, const RowGroups&,
                                          std::span<const Weight>);
template void multiply_gradient<float>(const Context&, const Tensor&, GroupedInput&,
                                       std::span<const Destination>);
template void multiply_gradient<double>(const Context&, const Tensor&, GroupedInput&,
                                        std::span<const Destination>);

}  // namespace sluice
