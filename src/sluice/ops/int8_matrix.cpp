#include "sluice/ops/int8_matrix.h"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

constexpr int64_t kWordBytes = kInt8Outputs * kInt8Word;

QuantizedInput empty_input(const Context& context, int64_t rows, int64_t k) {
  return {.q = context.empty({rows, int8_words(k) * kInt8Word}, DType::I8),
          .scales = context.empty({rows, int8_groups(k)}, DType::F32),
          .sums = context.empty({rows, int8_groups(k)}, DType::I32)};
}

QuantizeRows<float> arguments(const float* x, int64_t k, const QuantizedInput& to) {
  return {.k = k,
          .x = x,
          .q = to.q.data<int8_t>(),
          .scales = to.scales.data<float>(),
          .sums = to.sums.data<int32_t>()};
}

// Rows of an f32 or bf16 matrix as f32, in `wide` if they have to be widened.
const float* as_f32(const Context& context, const Tensor& source, Range rows, const Tensor& wide) {
  const int64_t first = rows.begin * source.cols();
  if (source.dtype() == DType::F32) return source.data<float>() + first;
  context.kernels<float>().from_bf16({.x = source.data<Bf16>() + first, .y = wide.data<float>()},
                                     {0, rows.size() * source.cols()});
  return wide.data<float>();
}

// One block: rows become lanes, word by word.
void pack_block(const QuantizedInput& quantized, int64_t rows, int8_t* values, float* scales) {
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
    const QuantizedInput quantized = empty_input(context, kInt8Outputs, k);
    for (int64_t b = first + blocks.begin; b < first + blocks.end; ++b) {
      const Range some{b * kInt8Outputs, std::min((b + 1) * kInt8Outputs, matrix.rows)};
      context.kernels<float>().quantize_rows(arguments(as_f32(context, source, some, wide), k, quantized),
                                             {0, some.size()});
      pack_block(quantized, some.size(), matrix.values.data<int8_t>() + b * int8_words(k) * kWordBytes,
                 matrix.scales.data<float>() + b * int8_groups(k) * kInt8Outputs);
    }
  });
}

QuantizedInput quantized_input(const Context& context, const Tensor& x) {
  QuantizedInput input = empty_input(context, x.rows(), x.cols());
  context.run(context.kernels<float>().quantize_rows, arguments(x.data<float>(), x.cols(), input), x.rows(),
              x.cols());
  return input;
}

}  // namespace sluice
