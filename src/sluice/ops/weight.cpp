#include "sluice/ops/weight.h"

#include <algorithm>

#include "sluice/ops/convert.h"
#include "sluice/ops/matmul.h"
#include "sluice/ops/weight_forms.h"

namespace sluice {
namespace {

// Outer indices that are packed at once, a multiple of a pair of strips: 16 MiB at a depth of 2048, where an
// output layer's whole would be 600.
constexpr int64_t kPart = 4096;

// A weight [M, K] as a B operand, which is packed by what the product does not sum over: its rows in
// x · weightᵀ, its columns in dy · weight.
struct Operand {
  const Tensor& weight;
  Transpose transpose;

  bool by_rows() const { return transpose == Transpose::Yes; }
  int64_t outer() const { return by_rows() ? weight.rows() : weight.cols(); }
  int64_t depth() const { return by_rows() ? weight.cols() : weight.rows(); }

  // Calls body(range) for parts of the outer indices.
  template <class Body>
  void each_part(const Body& body) const {
    for (int64_t first = 0; first < outer(); first += kPart)
      body(Range{first, std::min(first + kPart, outer())});
  }

  PackRequest part(Range range) const {
    const int64_t skipped = by_rows() ? range.begin * weight.cols() : range.begin;
    const bool narrow = weight.dtype() == DType::BF16;
    return {.operand = {.f32 = narrow ? nullptr : weight.data<float>() + skipped,
                        .bf16 = narrow ? weight.data<Bf16>() + skipped : nullptr,
                        .stride = weight.cols(),
                        .transpose = by_rows() ? Transpose::No : Transpose::Yes},
            .outer = range.size(),
            .depth = depth(),
            .format = TileFormat::B};
  }
};

// Rows of a file leave memory as soon as they are packed, or all weights would be there twice.
PackedMatrix packed_to_keep(const Context& context, const Operand& operand) {
  const PackedMatrix whole{
      .tiles = context.empty({packed_count(operand.outer(), operand.depth())}, DType::BF16),
      .outer = operand.outer(),
      .depth = operand.depth()};
  operand.each_part([&](Range range) {
    pack_into(context, operand.part(range),
              whole.tiles.data<Bf16>() + packed_count(range.begin, operand.depth()));
    if (operand.by_rows()) operand.weight.forget_rows(range.begin, range.end);
  });
  return whole;
}

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
  const Operand operand{side.weight.dense().value(), side.transpose};
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
void multiply_gemm(const Context& context, const Tensor& x, const Operand& weight, const StoreSums<T>& to) {
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

}  // namespace

std::shared_ptr<WeightForms> new_weight_forms() {
  return std::make_shared<WeightForms>();
}

void Parameter::drop_packed() const {
  const std::lock_guard lock(forms->mutex);
  forms->transposed = {};
  forms->plain = {};
}

Weight::Weight(Var dense) : dense_(std::move(dense)), forms_(new_weight_forms()) {}

Weight::Weight(Int8Matrix quantized) : forms_(new_weight_forms()) {
  forms_->int8 = std::move(quantized);
}

bool Weight::is_int8() const {
  return forms_->int8.defined();
}

const Int8Matrix& Weight::int8() const {
  return forms_->int8;
}

int64_t Weight::outputs() const {
  return is_int8() ? int8().rows : dense_.rows();
}

int64_t Weight::inputs() const {
  return is_int8() ? int8().cols : dense_.cols();
}

bool Weight::is_narrow() const {
  return is_int8() || dense_.dtype() == DType::BF16;
}

PackedMatrix Weight::packed(const Context& context, Transpose transpose) const {
  const Operand operand{dense_.value(), transpose};
  if (context.packing == Packing::Once) return pack(context, operand.part({0, operand.outer()}));
  const std::lock_guard lock(forms_->mutex);
  WeightForms::Packed& kept = forms_->packed(transpose);
  if (!kept.matrix.tiles.defined() || !kept.source.shares_elements(dense_.value()))
    kept = {.source = dense_.value(), .matrix = packed_to_keep(context, operand)};
  return kept.matrix;
}

PackedMatrix Weight::packed_if_kept(Transpose transpose) const {
  const std::lock_guard lock(forms_->mutex);
  const WeightForms::Packed& kept = forms_->packed(transpose);
  return kept.source.shares_elements(dense_.value()) ? kept.matrix : PackedMatrix();
}

Weight weight_of(const Context& context, const Parameter& parameter) {
  return {use(context, parameter), parameter.forms};
}

bool is_narrow(const Parameter& parameter) {
  return Weight(Var(parameter.value), parameter.forms).is_narrow();
}

size_t bytes_of(const Parameter& parameter) {
  return parameter.forms->int8.defined() ? parameter.forms->int8.bytes() : parameter.value.bytes();
}

void set_int8(Parameter& parameter, Int8Matrix quantized) {
  parameter.forms->int8 = std::move(quantized);
}

ProductPath product_path(const Context& context, const Weight& weight, int64_t rows) {
  if (weight.is_int8()) return ProductPath::Int8;
  const DType dtype = weight.dense().dtype();
  const bool few = rows < kFewRows;
  if (dtype == DType::BF16) return few ? ProductPath::FewRows : ProductPath::Tiles;
  if (dtype == DType::F32 && context.precision == Precision::Bf16) return ProductPath::Tiles;
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
    if (context.precision == Precision::Bf16)
      return multiply_tiles(context, packed_rows(context, dy, TileFormat::A), {weight, Transpose::No}, to);
  }
  multiply_gemm(context, dy, {weight.dense().value(), Transpose::No}, to);
}

template void multiply_forward(const Context&, ProductInput&, const Weight&, const StoreSums<float>&);
template void multiply_forward(const Context&, ProductInput&, const Weight&, const StoreSums<double>&);
template void multiply_backward(const Context&, const Tensor&, const Weight&, const StoreSums<float>&);
template void multiply_backward(const Context&, const Tensor&, const Weight&, const StoreSums<double>&);

}  // namespace sluice
