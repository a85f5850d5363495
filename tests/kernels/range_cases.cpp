// Sizes are odd on purpose: neither rows nor ranges end where a vector does.
#include "tests/kernels/range_cases.h"

#include <cstdint>
#include <utility>

#include "sluice/base/random.h"

namespace sluice::test {
namespace {

using Floats = std::vector<float>;
using Outputs = std::vector<Output>;

// Normal numbers, others for every stream.
Floats normal(int64_t count, uint64_t stream) {
  Floats values(static_cast<size_t>(count));
  Random(5, stream).fill_normal(values, 0, 0.0F, 1.0F);
  return values;
}

std::vector<int32_t> ids(int64_t count, uint64_t below) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i) ids.push_back(static_cast<int32_t>(Random(6).below(i, below)));
  return ids;
}

Output output(int64_t count, int64_t block = 1, int64_t period = INT64_MAX) {
  return {normal(count, 99), block, period};
}

void add_elementwise(std::vector<RangeCase>& cases) {
  constexpr int64_t kCount = 203;
  const Floats a = normal(kCount, 1), b = normal(kCount, 2), c = normal(kCount, 3);
  cases.push_back(
      {"scaled_add", kCount, {output(kCount)}, [=](const auto& kernels, Range range, Outputs& out) {
         kernels.scaled_add({.a = a.data(), .b = b.data(), .y = out[0].values.data(), .factor = 0.3F}, range);
       }});
  cases.push_back({"scale", kCount, {output(kCount)}, [=](const auto& kernels, Range range, Outputs& out) {
                     kernels.scale({.x = a.data(), .y = out[0].values.data(), .factor = 0.3F}, range);
                   }});
  cases.push_back(
      {"swiglu_forward", kCount, {output(kCount)}, [=](const auto& kernels, Range range, Outputs& out) {
         kernels.swiglu_forward({.gate = a.data(), .up = b.data(), .y = out[0].values.data()}, range);
       }});
  cases.push_back({"swiglu_backward",
                   kCount,
                   {output(kCount), output(kCount)},
                   [=](const auto& kernels, Range range, Outputs& out) {
                     kernels.swiglu_backward({.gate = a.data(),
                                              .up = b.data(),
                                              .dy = c.data(),
                                              .dgate = out[0].values.data(),
                                              .dup = out[1].values.data()},
                                             range);
                   }});
  cases.push_back(
      {"clip_forward", kCount, {output(kCount)}, [=](const auto& kernels, Range range, Outputs& out) {
         kernels.clip_forward({.x = a.data(), .y = out[0].values.data(), .limit = 0.7F}, range);
       }});
  cases.push_back(
      {"clip_backward", kCount, {output(kCount)}, [=](const auto& kernels, Range range, Outputs& out) {
         kernels.clip_backward({.x = a.data(), .dy = b.data(), .dx = out[0].values.data(), .limit = 0.7F},
                               range);
       }});
  cases.push_back(
      {"from_bf16", kCount, {output(kCount)}, [=](const auto& kernels, Range range, Outputs& out) {
         std::vector<Bf16> x;
         for (const float value : a) x.push_back(to_bf16(value));
         kernels.from_bf16({.x = x.data(), .y = out[0].values.data()}, range);
       }});
  // The output is kept as floats, which hold every bf16.
  Output halves = output(kCount);
  for (float& value : halves.values) value = to_float(to_bf16(value));
  cases.push_back({"to_bf16", kCount, {halves}, [=](const auto& kernels, Range range, Outputs& out) {
                     std::vector<Bf16> y;
                     for (const float value : out[0].values) y.push_back(to_bf16(value));
                     kernels.to_bf16({.x = a.data(), .y = y.data()}, range);
                     for (size_t i = 0; i < y.size(); ++i) out[0].values[i] = to_float(y[i]);
                   }});
}

void add_sums(std::vector<RangeCase>& cases) {
  constexpr int64_t kBlocks = 6;
  constexpr int64_t kCount = (kBlocks - 1) * kSumBlock + 77;
  cases.push_back({"block_sum",
                   kBlocks,
                   {output(kBlocks)},
                   [x = normal(kCount, 1)](const auto& kernels, Range range, Outputs& out) {
                     kernels.block_sum({.x = x.data(), .count = kCount, .sums = out[0].values.data()}, range);
                   }});
  cases.push_back({"block_square_sum",
                   kBlocks,
                   {output(kBlocks)},
                   [x = normal(kCount, 1)](const auto& kernels, Range range, Outputs& out) {
                     kernels.block_square_sum({.x = x.data(), .count = kCount, .sums = out[0].values.data()},
                                              range);
                   }});
  constexpr int64_t kRows = 7, kCols = 203;
  cases.push_back({"column_sum",
                   kCols,
                   {output(kCols)},
                   [x = normal(kRows * kCols, 1)](const auto& kernels, Range range, Outputs& out) {
                     kernels.column_sum(
                         {.x = x.data(), .rows = kRows, .cols = kCols, .y = out[0].values.data()}, range);
                   }});
  cases.push_back({"repeat_row",
                   kRows,
                   {output(kRows * kCols, kCols)},
                   [x = normal(kCols, 1)](const auto& kernels, Range range, Outputs& out) {
                     kernels.repeat_row({.x = x.data(), .cols = kCols, .y = out[0].values.data()}, range);
                   }});
}

void add_few_rows(std::vector<RangeCase>& cases) {
  constexpr int64_t kRows = 3, kOutputs = 37, kWidth = 75;
  const Floats x = normal(kRows * kWidth, 1), weight = normal(kOutputs * kWidth, 2);
  std::vector<Bf16> narrow;
  for (const float value : weight) narrow.push_back(to_bf16(value));
  const auto product = [x](auto* matrix, Outputs& out) {
    return FewRowsProduct<float, std::remove_const_t<std::remove_pointer_t<decltype(matrix)>>>{
        .rows = kRows,
        .k = kWidth,
        .x = x.data(),
        .weight = matrix,
        .y = out[0].values.data(),
        .y_stride = kOutputs,
        .output = sluice::Output::Accumulate};
  };
  // One output of every row.
  cases.push_back({"few_rows",
                   kOutputs,
                   {output(kRows * kOutputs, 1, kOutputs)},
                   [=](const auto& kernels, Range range, Outputs& out) {
                     kernels.few_rows(product(weight.data(), out), range);
                   }});
  cases.push_back({"few_rows_bf16",
                   kOutputs,
                   {output(kRows * kOutputs, 1, kOutputs)},
                   [=](const auto& kernels, Range range, Outputs& out) {
                     kernels.few_rows_bf16(product(narrow.data(), out), range);
                   }});
}

void add_few_rows_tiles(std::vector<RangeCase>& cases) {
  constexpr int64_t kRows = 4, kStrips = 4, kOutputs = kStrips * kTileRows, kWidth = 75;
  const Floats x = normal(kRows * kWidth, 1), addend = normal(kOutputs, 3);
  std::vector<Bf16> tiles;
  for (const float value : normal(packed_count(kOutputs, kWidth), 2)) tiles.push_back(to_bf16(value));
  // Sixteen outputs of every row.
  cases.push_back({"few_rows_tiles",
                   kStrips,
                   {output(kRows * kOutputs, kTileRows, kStrips)},
                   [=](const auto& kernels, Range range, Outputs& out) {
                     kernels.few_rows_tiles({.rows = kRows,
                                             .depth = kWidth,
                                             .x = x.data(),
                                             .b = tiles.data(),
                                             .y = {.m = kRows,
                                                   .n = kOutputs,
                                                   .c = out[0].values.data(),
                                                   .c_stride = kOutputs,
                                                   .addend = addend.data()}},
                                            range);
                   }});
}

// Integers are kept as floats, which hold them all.
template <class T>
std::vector<T> as(const Floats& values) {
  std::vector<T> integers;
  for (const float value : values) integers.push_back(static_cast<T>(value));
  return integers;
}

Output whole_numbers(Output output) {
  for (float& value : output.values) value = static_cast<float>(static_cast<int>(value * 10.0F));
  return output;
}

void add_int8(std::vector<RangeCase>& cases) {
  constexpr int64_t kRows = 19, kWidth = 150;
  const int64_t bytes = int8_words(kWidth) * kInt8Word, groups = int8_groups(kWidth);
  cases.push_back(
      {"quantize_rows",
       kRows,
       {whole_numbers(output(kRows * bytes, bytes)), output(kRows * groups, groups),
        whole_numbers(output(kRows * groups, groups))},
       [=, x = normal(kRows * kWidth, 1)](const auto& kernels, Range range, Outputs& out) {
         std::vector<int8_t> q = as<int8_t>(out[0].values);
         std::vector<int32_t> sums = as<int32_t>(out[2].values);
         kernels.quantize_rows(
             {.k = kWidth, .x = x.data(), .q = q.data(), .scales = out[1].values.data(), .sums = sums.data()},
             range);
         out[0].values.assign(q.begin(), q.end());
         out[2].values.assign(sums.begin(), sums.end());
       }});
  // The last block is not full.
  constexpr int64_t kBlocks = 5, kStride = kBlocks * kInt8Outputs;
  Floats small = whole_numbers(output(kStride * bytes)).values;
  cases.push_back({"int8_rows",
                   kBlocks,
                   {output(kRows * kStride, kInt8Outputs, kBlocks)},
                   [=, weight = as<int8_t>(small), scales = normal(kStride * groups, 2),
                    x_scales = normal(kRows * groups, 3)](const auto& kernels, Range range, Outputs& out) {
                     // Any integers do for the rows, as long as their sums are right.
                     const std::vector<int8_t> q(static_cast<size_t>(kRows * bytes), 3);
                     std::vector<int32_t> sums;
                     for (int64_t i = 0; i < kRows; ++i) sums.insert(sums.end(), {3 * 128, 3 * 24});
                     kernels.int8_rows({.rows = kRows,
                                        .k = kWidth,
                                        .outputs = kStride - 5,
                                        .x = {.q = q.data(), .scales = x_scales.data(), .sums = sums.data()},
                                        .weight = weight.data(),
                                        .weight_scales = scales.data(),
                                        .y = out[0].values.data(),
                                        .y_stride = kStride,
                                        .output = sluice::Output::Accumulate},
                                       range);
                   }});
}

void add_optimizer(std::vector<RangeCase>& cases) {
  constexpr int64_t kCount = 203;
  Output second = output(kCount);
  for (float& value : second.values) value *= value;  // a mean of squares
  cases.push_back({"adamw",
                   kCount,
                   {output(kCount), output(kCount), second},
                   [grad = normal(kCount, 1)](const auto& kernels, Range range, Outputs& out) {
                     kernels.adamw({.value = out[0].values.data(),
                                    .grad = grad.data(),
                                    .first = out[1].values.data(),
                                    .second = out[2].values.data(),
                                    .grad_scale = 0.5F,
                                    .rate = 1e-2F,
                                    .beta1 = 0.9F,
                                    .beta2 = 0.95F,
                                    .eps = 1e-8F,
                                    .decay = 0.1F,
                                    .first_correction = 10.0F,
                                    .second_correction = 20.0F},
                                   range);
                   }});
}

void add_embedding(std::vector<RangeCase>& cases) {
  constexpr int64_t kTokens = 21, kWidth = 75, kVocabulary = 5;
  const std::vector<int32_t> tokens = ids(kTokens, kVocabulary);
  cases.push_back(
      {"embedding_forward",
       kTokens,
       {output(kTokens * kWidth, kWidth)},
       [=, table = normal(kVocabulary * kWidth, 1)](const auto& kernels, Range range, Outputs& out) {
         kernels.embedding_forward(
             {.table = table.data(), .ids = tokens.data(), .width = kWidth, .y = out[0].values.data()},
             range);
       }});
  cases.push_back({"embedding_backward",
                   kWidth,
                   {output(kVocabulary * kWidth, 1, kWidth)},
                   [=, dy = normal(kTokens * kWidth, 1)](const auto& kernels, Range range, Outputs& out) {
                     kernels.embedding_backward({.ids = tokens.data(),
                                                 .tokens = kTokens,
                                                 .dy = dy.data(),
                                                 .width = kWidth,
                                                 .dtable = out[0].values.data()},
                                                range);
                   }});
}

void add_rms_norm(std::vector<RangeCase>& cases) {
  constexpr int64_t kWidth = 75, kBlocks = 5, kRows = (kBlocks - 1) * kNormBlock + 9;
  const Floats x = normal(kRows * kWidth, 1), w = normal(kWidth, 2), dy = normal(kRows * kWidth, 3);
  cases.push_back({"rms_norm_forward",
                   kRows,
                   {output(kRows * kWidth, kWidth), output(kRows)},
                   [=](const auto& kernels, Range range, Outputs& out) {
                     kernels.rms_norm_forward({.x = x.data(),
                                               .weight = {.w = w.data(), .offset = 1},
                                               .width = kWidth,
                                               .eps = 1e-6F,
                                               .y = out[0].values.data(),
                                               .inverse_rms = out[1].values.data()},
                                              range);
                   }});
  cases.push_back({"rms_norm_backward",
                   kBlocks,
                   {output(kRows * kWidth, kNormBlock * kWidth), output(kBlocks * kWidth, kWidth)},
                   [=, inverse_rms = normal(kRows, 4)](const auto& kernels, Range range, Outputs& out) {
                     kernels.rms_norm_backward({.x = x.data(),
                                                .weight = {.w = w.data(), .offset = 1},
                                                .inverse_rms = inverse_rms.data(),
                                                .dy = dy.data(),
                                                .rows = kRows,
                                                .width = kWidth,
                                                .dx = out[0].values.data(),
                                                .dweight_blocks = out[1].values.data()},
                                               range);
                   }});
}

enum class Norm { With, Without };

void add_norm_rope(std::vector<RangeCase>& cases, Norm norm) {
  constexpr int64_t kHeads = 3, kHeadDim = 22, kRotary = 14, kPositions = 30;
  constexpr int64_t kBlocks = 4, kTokens = (kBlocks - 1) * kNormBlock + 9;
  constexpr int64_t kTokenWidth = kHeads * kHeadDim;
  const std::string suffix = norm == Norm::With ? "" : "_without_norm";
  const Floats x = normal(kTokens * kTokenWidth, 1), w = normal(kHeadDim, 2),
               dy = normal(kTokens * kTokenWidth, 3);
  const Floats cos = normal(kPositions * kRotary / 2, 4), sin = normal(kPositions * kRotary / 2, 5);
  const std::vector<int32_t> positions = ids(kTokens, kPositions);
  const auto weight = [norm](const Floats& from) {
    return NormWeight<float>{.w = norm == Norm::With ? from.data() : nullptr, .offset = 0};
  };
  cases.push_back({"norm_rope_forward" + suffix,
                   kTokens,
                   {output(kTokens * kTokenWidth, kTokenWidth), output(kTokens * kHeads, kHeads)},
                   [=](const auto& kernels, Range range, Outputs& out) {
                     kernels.norm_rope_forward({.x = x.data(),
                                                .weight = weight(w),
                                                .eps = 1e-6F,
                                                .rotation = {.cos = cos.data(),
                                                             .sin = sin.data(),
                                                             .positions = positions.data(),
                                                             .rotary = kRotary},
                                                .heads = kHeads,
                                                .head_dim = kHeadDim,
                                                .y = out[0].values.data(),
                                                .inverse_rms = out[1].values.data()},
                                               range);
                   }});
  cases.push_back(
      {"norm_rope_backward" + suffix,
       kBlocks,
       {output(kTokens * kTokenWidth, kNormBlock * kTokenWidth), output(kBlocks * kHeadDim, kHeadDim)},
       [=, inverse_rms = normal(kTokens * kHeads, 6)](const auto& kernels, Range range, Outputs& out) {
         kernels.norm_rope_backward({.x = x.data(),
                                     .weight = weight(w),
                                     .rotation = {.cos = cos.data(),
                                                  .sin = sin.data(),
                                                  .positions = positions.data(),
                                                  .rotary = kRotary},
                                     .inverse_rms = inverse_rms.data(),
                                     .dy = dy.data(),
                                     .tokens = kTokens,
                                     .heads = kHeads,
                                     .head_dim = kHeadDim,
                                     .dx = out[0].values.data(),
                                     .dweight_blocks = out[1].values.data()},
                                    range);
       }});
}

void add_gate(std::vector<RangeCase>& cases, const GateForm& form) {
  constexpr int64_t kTokens = 21;
  const GateShape shape{.heads = 3, .head_dim = 22, .form = form};
  const int64_t width = shape.heads * shape.head_dim;
  const int64_t score_width = shape.score_width();
  const int64_t scores_per_token = shape.heads * score_width;
  const std::string suffix = std::string(form.mode == GateMode::Multiply ? "_multiply" : "_add") +
                             (form.granularity == Granularity::Elementwise ? "_elementwise" : "_headwise") +
                             (form.sharing == Sharing::Specific ? "_specific" : "_shared");
  const Floats x = normal(kTokens * width, 1), scores = normal(kTokens * scores_per_token, 2);
  cases.push_back({"gate_forward" + suffix,
                   kTokens,
                   {output(kTokens * width, width), output(kTokens * score_width, score_width)},
                   [=](const auto& kernels, Range range, Outputs& out) {
                     kernels.gate_forward({.shape = shape,
                                           .x = x.data(),
                                           .scores = scores.data(),
                                           .y = out[0].values.data(),
                                           .mean = out[1].values.data()},
                                          range);
                   }});
  cases.push_back({"gate_backward" + suffix,
                   kTokens,
                   {output(kTokens * width, width), output(kTokens * scores_per_token, scores_per_token)},
                   [=, mean = normal(kTokens * score_width, 3), dy = normal(kTokens * width, 4)](
                       const auto& kernels, Range range, Outputs& out) {
                     kernels.gate_backward({.shape = shape,
                                            .x = x.data(),
                                            .scores = scores.data(),
                                            .mean = mean.data(),
                                            .dy = dy.data(),
                                            .dx = out[0].values.data(),
                                            .dscores = out[1].values.data()},
                                           range);
                   }});
  cases.push_back({"gate_values" + suffix,
                   kTokens,
                   {output(kTokens * scores_per_token, scores_per_token)},
                   [=](const auto& kernels, Range range, Outputs& out) {
                     kernels.gate_values(
                         {.shape = shape, .scores = scores.data(), .values = out[0].values.data()}, range);
                   }});
}

void add_cross_entropy(std::vector<RangeCase>& cases) {
  constexpr int64_t kRows = 19, kVocabulary = 83;
  std::vector<int32_t> targets = ids(kRows, kVocabulary);
  targets[4] = kIgnoredTarget;
  cases.push_back(
      {"cross_entropy_forward",
       kRows,
       {output(kRows), output(kRows)},
       [=, logits = normal(kRows * kVocabulary, 1)](const auto& kernels, Range range, Outputs& out) {
         kernels.cross_entropy_forward({.logits = logits.data(),
                                        .targets = targets.data(),
                                        .vocabulary = kVocabulary,
                                        .loss = out[0].values.data(),
                                        .log_sum_exp = out[1].values.data()},
                                       range);
       }});
  cases.push_back({"cross_entropy_backward",
                   kRows,
                   {output(kRows * kVocabulary, kVocabulary)},
                   [=, log_sum_exp = normal(kRows, 2)](const auto& kernels, Range range, Outputs& out) {
                     kernels.cross_entropy_backward({.logits = out[0].values.data(),
                                                     .targets = targets.data(),
                                                     .log_sum_exp = log_sum_exp.data(),
                                                     .vocabulary = kVocabulary,
                                                     .factor = 0.3F},
                                                    range);
                   }});
}

void add_softmax(std::vector<RangeCase>& cases) {
  constexpr int64_t kRows = 19, kWidth = 21;
  const Floats x = normal(kRows * kWidth, 1), dy = normal(kRows * kWidth, 2);
  cases.push_back({"softmax_forward",
                   kRows,
                   {output(kRows * kWidth, kWidth)},
                   [=](const auto& kernels, Range range, Outputs& out) {
                     kernels.softmax_forward({.x = x.data(), .width = kWidth, .y = out[0].values.data()},
                                             range);
                   }});
  cases.push_back({"softmax_backward",
                   kRows,
                   {output(kRows * kWidth, kWidth)},
                   [=](const auto& kernels, Range range, Outputs& out) {
                     kernels.softmax_backward(
                         {.y = x.data(), .dy = dy.data(), .width = kWidth, .dx = out[0].values.data()},
                         range);
                   }});
}

}  // namespace

std::vector<RangeCase> range_cases() {
  std::vector<RangeCase> cases;
  add_elementwise(cases);
  add_sums(cases);
  add_few_rows(cases);
  add_few_rows_tiles(cases);
  add_int8(cases);
  add_optimizer(cases);
  add_embedding(cases);
  add_rms_norm(cases);
  add_norm_rope(cases, Norm::With);
  add_norm_rope(cases, Norm::Without);
  for (const GateMode mode : {GateMode::Multiply, GateMode::Add}) {
    for (const Granularity granularity : {Granularity::Elementwise, Granularity::Headwise}) {
      for (const Sharing sharing : {Sharing::Specific, Sharing::Shared}) {
        add_gate(cases, {Activation::Silu, mode, granularity, sharing});
      }
    }
  }
  add_cross_entropy(cases);
  add_softmax(cases);
  return cases;
}

}  // namespace sluice::test
