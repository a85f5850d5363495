#include "sluice/ops/weight_product.h"

#include <algorithm>

#include "sluice/ops/convert.h"
#include "sluice/ops/matmul.h"
#include "sluice/ops/weight_forms.h"

namespace sluice {
namespace {

// A range of C's columns, and of what is added to them.
StoreSums<float> columns_of(StoreSums<float> to, Range range) {
  to.n = range.size();
  to.c += range.begin;
  if (to.addend != nullptr) to.addend += range.begin;
  return to;
}

struct WeightSide {
  const Weight& weight;
  Transpose transpose;
};

// With a packed weight that is kept, or part by part with one that is not.
void multiply_tiles(const Context& context, const PackedMatrix& x, const WeightSide& side,
                    const StoreSums<float>& to) {
  if (context.packing == Packing::Keep)
    return multiply(context, x, side.weight.packed(context, side.transpose), to);
  const WeightOperand operand{side.weight.dense().value(), side.transpose};
  operand.each_part(
      [&](Range range) { multiply(context, x, pack(context, operand.part(range)), columns_of(to, range)); });
}

// For kernels that can only write, or add to what is there.
template <class T>
Output with_addend_in_place(const Context& context, const StoreSums<T>& to) {
  if (to.addend == nullptr) return Output::Overwrite;
  if (to.addend != to.c) {
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(to.n, 1));
    context.threads().split(to.m, grain, [&](Range rows) {
      for (int64_t r = rows.begin; r < rows.end; ++r)
        std::copy_n(to.addend + r * to.addend_stride, to.n, to.c + r * to.c_stride);
    });
  }
  return Output::Accumulate;
}

// Outputs that a thread takes at once: one that the system holds up delays its own share alone.
constexpr int64_t kOutputsAtOnce = 64;  // of 2048 bf16 weights each: about 20 microseconds of reading

// Runs a kernel whose range counts units of `outputs_per_unit` outputs.
template <class Args>
void run_by_outputs(const Context& context, RangeKernel<Args> kernel, const Args& args, int64_t outputs,
                    int64_t outputs_per_unit) {
  const int64_t units = (outputs + outputs_per_unit - 1) / outputs_per_unit;
  const int64_t step = kOutputsAtOnce / outputs_per_unit;
  context.threads().each((units + step - 1) / step, [&](int64_t i) {
    kernel(args, {i * step, std::min(units, (i + 1) * step)});
  });
}

void multiply_int8(const Context& context, ProductInput& x, const Int8Matrix& weight,
                   const StoreSums<float>& to) {
  const QuantizedInput& quantized = x.quantized(context);
  const Int8Product<float> args{.rows = to.m,
                                .k = weight.cols,
                                .outputs = weight.rows,
                                .x = {.q = quantized.q.data<int8_t>(),
                                      .scales = quantized.scales.data<float>(),
                                      .sums = quantized.sums.data<int32_t>()},
                                .weight = weight.values.data<int8_t>(),
                                .weight_scales = weight.scales.data<float>(),
                                .y = to.c,
                                .y_stride = to.c_stride,
                                .output = with_addend_in_place(context, to)};
  run_by_outputs(context, context.kernels<float>().int8_rows, args, weight.rows, kInt8Outputs);
}

template <class T, class W>
void multiply_stored(const Context& context, RangeKernel<FewRowsProduct<T, W>> kernel, const Tensor& x,
                     const Tensor& weight, const StoreSums<T>& to) {
  const FewRowsProduct<T, W> args{.rows = to.m,
                                  .k = weight.cols(),
                                  .x = x.data<T>(),
                                  .weight = weight.data<W>(),
                                  .y = to.c,
                                  .y_stride = to.c_stride,
                                  .output = with_addend_in_place(context, to)};
  run_by_outputs(context, kernel, args, weight.rows(), 1);
}

// x rounded to bf16, as f32: what a bf16 product sees of it.
Tensor rounded(const Context& context, const Tensor& x) {
  return convert(context, convert(context, x, DType::BF16), DType::F32);
}

void multiply_few_bf16(const Context& context, const Tensor& x, const Weight& weight,
                       const StoreSums<float>& to) {
  const Kernels<float>& kernels = context.kernels<float>();
  const Tensor seen = rounded(context, x);
  const PackedMatrix packed =
      context.packing == Packing::Keep ? weight.packed_if_kept(Transpose::Yes) : PackedMatrix();
  if (!packed.tiles.defined())
    return multiply_stored(context, kernels.few_rows_bf16, seen, weight.dense().value(), to);
  const FewRowsTiles<float> args{.rows = to.m,
                                 .depth = weight.inputs(),
                                 .x = seen.data<float>(),
                                 .b = packed.tiles.data<Bf16>(),
                                 .y = to};
  run_by_outputs(context, kernels.few_rows_tiles, args, weight.outputs(), kTileRows);
}

template <class T>
void multiply_few(const Context& context, const Tensor& x, const Weight& weight, const StoreSums<T>& to) {
  if constexpr (std::is_same_v<T, float>) {
    if (weight.dense().dtype() == DType::BF16) return multiply_few_bf16(context, x, weight, to);
  }
  multiply_stored(context, context.kernels<T>().few_rows, x, weight.dense().value(), to);
}

template <class T>
void multiply_gemm(const Context& context, const Tensor& x, const WeightOperand& weight,
                   const StoreSums<T>& to) {
  matmul<T>(context, {.m = to.m,
                      .n = to.n,
                      .k = weight.depth(),
                      .a = x.data<T>(),
                      .a_stride = weight.depth(),
                      .b = weight.weight.data<T>(),
                      .b_stride = weight.weight.cols(),
                      .b_transpose = weight.transpose,
                      .c = to.c,
                      .c_stride = to.c_stride,
                      .output = with_addend_in_place(context, to)});
}

// Whether f32 operands are rounded to bf16 and packed.
bool rounds_to_tiles(const Context& context, DType dtype) {
  return dtype == DType::F32 && context.precision == Precision::Bf16;
}

}  // namespace

void check_weight(const char* op, const Context& context, const Tensor& x, const Weight& weight) {
  SLUICE_ASSERT(x.cols() == weight.inputs(), "{}: input has {} columns, weight {}", op, x.cols(),
                weight.inputs());
  SLUICE_ASSERT(weight.is_narrow() || x.dtype() == weight.dense().dtype(), "{}: input is {}, weight {}", op,
                name_of(x.dtype()), name_of(weight.dense().dtype()));
  const bool recorded = context.tape != nullptr;
  SLUICE_ASSERT(!recorded || !weight.is_narrow() || !weight.dense().wants_gradient(),
                "{}: no gradient for a weight in bf16 or int8", op);
  SLUICE_ASSERT(!recorded || !weight.is_int8(), "{}: no gradient for a weight in int8, or through it", op);
}

ProductPath product_path(const Context& context, const Weight& weight, int64_t rows) {
  if (weight.is_int8()) return ProductPath::Int8;
  const DType dtype = weight.dense().dtype();
  const bool few = rows < kFewRows;
  if (dtype == DType::BF16) return few ? ProductPath::FewRows : ProductPath::Tiles;
  if (rounds_to_tiles(context, dtype)) return ProductPath::Tiles;
  return few ? ProductPath::FewRows : ProductPath::Gemm;
}

const PackedMatrix& ProductInput::packed_rows(const Context& context) {
  if (!rows_.tiles.defined()) rows_ = sluice::packed_rows(context, x_, TileFormat::A);
  return rows_;
}

const PackedMatrix& ProductInput::packed_columns(const Context& context) {
  if (!columns_.tiles.defined()) columns_ = sluice::packed_columns(context, x_, TileFormat::B);
  return columns_;
}

const QuantizedInput& ProductInput::quantized(const Context& context) {
  if (!quantized_.defined()) quantized_ = quantized_input(context, x_);
  return quantized_;
}

void ProductInput::drop_forms() {
  rows_ = {};
  columns_ = {};
  quantized_ = {};
}

template <class T>
void multiply_forward(const Context& context, ProductInput& x, const Weight& weight, const StoreSums<T>& to) {
  const ProductPath path = product_path(context, weight, x.x().rows());
  if (path == ProductPath::FewRows) return multiply_few(context, x.x(), weight, to);
  if constexpr (std::is_same_v<T, float>) {
    if (path == ProductPath::Int8) return multiply_int8(context, x, weight.int8(), to);
    if (path == ProductPath::Tiles)
      return multiply_tiles(context, x.packed_rows(context), {weight, Transpose::Yes}, to);
  }
  multiply_gemm(context, x.x(), {weight.dense().value(), Transpose::Yes}, to);
}

void multiply_packed(const Context& context, const PackedMatrix& x, const Weight& weight,
                     const StoreSums<float>& to) {
  multiply_tiles(context, x, {weight, Transpose::Yes}, to);
}

template <class T>
void multiply_backward(const Context& context, const Tensor& dy, const Weight& weight,
                       const StoreSums<T>& to) {
  if constexpr (std::is_same_v<T, float>) {
    if (weight.is_narrow() || rounds_to_tiles(context, dy.dtype()))
      return multiply_tiles(context, packed_rows(context, dy, TileFormat::A), {weight, Transpose::No}, to);
  }
  multiply_gemm(context, dy, {weight.dense().value(), Transpose::No}, to);
}

template <class T>
void multiply_gradient(const Context& context, const Tensor& dy, ProductInput& x, const StoreSums<T>& to) {
  if constexpr (std::is_same_v<T, float>) {
    if (rounds_to_tiles(context, dy.dtype()))
      return multiply(context, packed_columns(context, dy, TileFormat::A), x.packed_columns(context), to);
  }
  matmul<T>(context, {.m = to.m,
                      .n = to.n,
                      .k = dy.rows(),
                      .a = dy.data<T>(),
                      .a_stride = dy.cols(),
                      .a_transpose = Transpose::Yes,
                      .b = x.x().data<T>(),
                      .b_stride = x.x().cols(),
                      .c = to.c,
                      .c_stride = to.c_stride,
                      .output = with_addend_in_place(context, to)});
}

template void multiply_forward(const Context&, ProductInput&, const Weight&, const StoreSums<float>&);
template void multiply_forward(const Context&, ProductInput&, const Weight&, const StoreSums<double>&);
template void multiply_backward(const Context&, const Tensor&, const Weight&, const StoreSums<float>&);
template void multiply_backward(const Context&, const Tensor&, const Weight&, const StoreSums<double>&);
template void multiply_gradient(const Context&, const Tensor&, ProductInput&, const StoreSums<float>&);
template void multiply_gradient(const Context&, const Tensor&, ProductInput&, const StoreSums<double>&);

}  // namespace sluice
