#include "sluice/ops/int8_linear.h"

#include <algorithm>
#include <cstring>

#include "sluice/ops/arithmetic.h"

namespace sluice {
namespace {

constexpr int64_t kWordBytes = kInt8Outputs * kInt8Word;

// Rows as quantize_rows makes them.
struct Quantized {
  Tensor q;       // [rows, words · 4]
  Tensor scales;  // [rows, groups]
  Tensor sums;    // [rows, groups]

  Quantized(const Context& context, int64_t rows, int64_t k)
      : q(context.empty({rows, int8_words(k) * kInt8Word}, DType::I8)),
        scales(context.empty({rows, int8_groups(k)}, DType::F32)),
        sums(context.empty({rows, int8_groups(k)}, DType::I32)) {}

  QuantizeRows<float> from(const float* x, int64_t k) const {
    return {
        .k = k, .x = x, .q = q.data<int8_t>(), .scales = scales.data<float>(), .sums = sums.data<int32_t>()};
  }
};

// Rows of an f32 or bf16 matrix as f32, in `wide` if they have to be widened.
const float* as_f32(const Context& context, const Tensor& source, Range rows, const Tensor& wide) {
  const int64_t first = rows.begin * source.cols();
  if (source.dtype() == DType::F32) return source.data<float>() + first;
  context.kernels<float>().from_bf16({.x = source.data<Bf16>() + first, .y = wide.data<float>()},
                                     {0, rows.size() * source.cols()});
  return wide.data<float>();
}

// One block: rows become lanes, word by word.
void pack_block(const Quantized& quantized, int64_t rows, int8_t* values, float* scales) {
  const int64_t words = quantized.q.cols() / kInt8Word, groups = quantized.scales.cols();
  for (int64_t r = 0; r < rows; ++r) {
    const int8_t* q = quantized.q.data<int8_t>() + r * quantized.q.cols();
    for (int64_t w = 0; w < words; ++w)
      std::memcpy(values + w * kWordBytes + r * kInt8Word, q + w * kInt8Word, kInt8Word);
    for (int64_t g = 0; g < groups; ++g)
      scales[g * kInt8Outputs + r] = quantized.scales.data<float>()[r * groups + g];
  }
  for (int64_t r = rows; r < kInt8Outputs; ++r) {
    for (int64_t w = 0; w < words; ++w) std::memset(values + w * kWordBytes + r * kInt8Word, 0, kInt8Word);
    for (int64_t g = 0; g < groups; ++g) scales[g * kInt8Outputs + r] = 0;
  }
}

void check(const Var& x, const LinearWeights& weights, const Var& residual) {
  const Int8Matrix& weight = *weights.int8;
  SLUICE_ASSERT(x.cols() == weight.cols, "linear: input has {} columns, weight {}", x.cols(), weight.cols);
  SLUICE_ASSERT(!weights.bias.value().defined() || weights.bias.value().count() == weight.rows,
                "linear: bias {} for {} outputs", weights.bias.shape().text(), weight.rows);
  SLUICE_ASSERT(!residual.value().defined() || residual.shape() == Shape({x.rows(), weight.rows}),
                "linear: residual {} for {} rows of {} outputs", residual.shape().text(), x.rows(),
                weight.rows);
}

Var product(const Context& context, const Tensor& x, const Int8Matrix& weight, const Destination& y) {
  const int64_t rows = x.rows(), k = weight.cols;
  const Kernels<float>& kernels = context.kernels<float>();
  const Quantized quantized(context, rows, k);
  context.run(kernels.quantize_rows, quantized.from(x.data<float>(), k), rows, k);
  const Int8Product<float> args{.rows = rows,
                                .k = k,
                                .outputs = weight.rows,
                                .x = {.q = quantized.q.data<int8_t>(),
                                      .scales = quantized.scales.data<float>(),
                                      .sums = quantized.sums.data<int32_t>()},
                                .weight = weight.values.data<int8_t>(),
                                .weight_scales = weight.scales.data<float>(),
                                .y = y.tensor.data<float>(),
                                .y_stride = weight.rows,
                                .output = y.output};
  // Handed out a few at a time: a thread that the system holds up delays its own share alone.
  constexpr int64_t kBlocks = 4;  // of 2048 weights per output: about 10 microseconds of reading
  const int64_t blocks = int8_blocks(weight.rows);
  context.threads().each((blocks + kBlocks - 1) / kBlocks, [&](int64_t tile) {
    kernels.int8_rows(args, {tile * kBlocks, std::min(blocks, (tile + 1) * kBlocks)});
  });
  return Var(y.tensor);
}

}  // namespace

Int8Matrix empty_int8_matrix(const Context& context, int64_t rows, int64_t cols) {
  const int64_t blocks = int8_blocks(rows);
  return {.rows = rows,
          .cols = cols,
          .values = context.empty({blocks, int8_words(cols), kInt8Outputs, kInt8Word}, DType::I8),
          .scales = context.empty({blocks, int8_groups(cols), kInt8Outputs}, DType::F32)};
}

void quantize_rows(const Context& context, const Tensor& source, Range rows, const Int8Matrix& matrix) {
  const int64_t k = matrix.cols;
  SLUICE_ASSERT(source.rows() == matrix.rows && source.cols() == k, "quantize_rows: {} into {} x {}",
                source.shape().text(), matrix.rows, k);
  SLUICE_ASSERT(rows.begin % kInt8Outputs == 0 && rows.end <= matrix.rows &&
                    (rows.end % kInt8Outputs == 0 || rows.end == matrix.rows),
                "quantize_rows: rows {} to {} of {} are no blocks", rows.begin, rows.end, matrix.rows);
  const int64_t first = rows.begin / kInt8Outputs;
  context.threads().split(int8_blocks(rows.size()), 1, [&](Range blocks) {
    const Tensor wide = context.empty({kInt8Outputs, k}, DType::F32);
    const Quantized quantized(context, kInt8Outputs, k);
    for (int64_t b = first + blocks.begin; b < first + blocks.end; ++b) {
      const Range some{b * kInt8Outputs, std::min((b + 1) * kInt8Outputs, matrix.rows)};
      context.kernels<float>().quantize_rows(quantized.from(as_f32(context, source, some, wide), k),
                                             {0, some.size()});
      pack_block(quantized, some.size(), matrix.values.data<int8_t>() + b * int8_words(k) * kWordBytes,
                 matrix.scales.data<float>() + b * int8_groups(k) * kInt8Outputs);
    }
  });
}

Var int8_linear(const Context& context, const Var& x, const LinearWeights& weights, const Var& residual) {
  SLUICE_ASSERT(context.tape == nullptr, "linear: no gradient for a weight in int8");
  check(x, weights, residual);
  // A product adds to what is there: the residual, or without one the bias.
  const bool biased = weights.bias.value().defined(), adds = residual.value().defined();
  if (biased && adds) return add(context, residual, int8_linear(context, x, weights));
  const Int8Matrix& weight = *weights.int8;
  if (adds)
    return product(context, x.value(), weight,
                   {residual.value().copy(context.engine.pool()), Output::Accumulate});
  if (biased)
    return product(context, x.value(), weight,
                   {repeat_row(context, weights.bias, x.rows()).value(), Output::Accumulate});
  return product(context, x.value(), weight, {context.empty({x.rows(), weight.rows}, DType::F32)});
}

}  // namespace sluice
