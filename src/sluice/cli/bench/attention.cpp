// bench attention: causal attention, forward and backward, beside the same products done whole by OpenBLAS.
// Shapes: H heads, T tokens, hd head size.
#include "sluice/ops/attention.h"
#include "sluice/cli/bench/table.h"

namespace sluice::cli {
namespace {

// Two heads for each thread: all threads end together, and a repetition is as long on any machine.
std::vector<BenchShape> default_shapes(const Threads& threads) {
  std::vector<BenchShape> shapes;
  for (const int64_t head_dim : {64, 128}) {
    for (const int64_t tokens : {512, 2048, 4096}) shapes.push_back({2 * threads.count(), tokens, head_dim});
  }
  return shapes;
}

// Multiply-adds of one product between queries and the keys that they see.
double causal_operations(const BenchShape& shape) {
  const auto tokens = static_cast<double>(shape.b);
  return static_cast<double>(shape.a) * tokens * (tokens + 1) * static_cast<double>(shape.c);
}

// Matrices of one head for the comparison: what is in them does not matter.
struct Squares {
  int64_t tokens, head_dim;
  Tensor rows, out;  // [T, hd]
  Tensor scores;     // [T, T]

  Gemm<float> score_product() const {
    return {.m = tokens,
            .n = tokens,
            .k = head_dim,
            .a = rows.data<float>(),
            .a_stride = head_dim,
            .b = rows.data<float>(),
            .b_stride = head_dim,
            .b_transpose = Transpose::Yes,
            .c = scores.data<float>(),
            .c_stride = tokens};
  }

  Gemm<float> row_product(Transpose transpose) const {
    return {.m = tokens,
            .n = head_dim,
            .k = tokens,
            .a = scores.data<float>(),
            .a_stride = tokens,
            .a_transpose = transpose,
            .b = rows.data<float>(),
            .b_stride = head_dim,
            .c = out.data<float>(),
            .c_stride = head_dim};
  }
};

// Without tiles attention stays f32 whatever was asked for.
Precision computed_in(const Context& context) {
  return rounds_attention(context.engine) ? context.precision : Precision::F32;
}

void add_shape(BenchTable& table, const BenchShape& shape) {
  const auto [heads, tokens, head_dim] = shape;
  const Context context = table.context();
  const Tensor x = random_matrix(context, tokens, heads * head_dim);
  const Sequences sequences = Sequences::equal(1, tokens);
  const AttentionOptions options{.heads = heads, .kv_heads = heads};
  const Squares squares{tokens, head_dim, random_matrix(context, tokens, head_dim),
                        context.empty({tokens, head_dim}, DType::F32),
                        context.empty({tokens, tokens}, DType::F32)};
  const Gemm<float> scores = squares.score_product(), rows = squares.row_product(Transpose::No),
                    columns = squares.row_product(Transpose::Yes);
  const auto forward = [&] {
    return seconds_of([&] { attention(context, {Var(x), Var(x), Var(x)}, sequences, options); });
  };
  const auto backward = [&] {
    Tape tape;
    const AttentionInputs inputs{tape.leaf(x), tape.leaf(x), tape.leaf(x)};
    const Var y = attention(context.with_tape(&tape), inputs, sequences, options);
    return seconds_of([&] { tape.backward(context, y, x); });
  };
  const double operations = causal_operations(shape);
  const Precision precision = computed_in(context);
  const Bound bound = arithmetic_bound(context.engine, precision);
  table.add({.name = "forward",
             .shape = shape.text(),
             .work = {.amount = 2 * operations, .bound = bound, .seconds = forward},
             .compute = precision,
             .openblas = {scores, rows}});
  table.add({.name = "backward",
             .shape = shape.text(),
             .work = {.amount = 5 * operations, .bound = bound, .seconds = backward},
             .compute = precision,
             .openblas = {scores, scores, columns, rows, columns}});
}

}  // namespace

void bench_attention(const BenchRequest& request, const Session& session) {
  BenchTable table(request, session);
  for (const BenchShape& shape :
       shapes_of(request, "HEADSxTOKENSxSIZE", default_shapes(table.context().threads())))
    add_shape(table, shape);
  table.print(
      "Shapes are heads x tokens x head size. Counted are the products of the causal half: two forward, five "
      "backward.\nOpenBLAS does as many with the whole square of one head, without softmax.");
}

}  // namespace sluice::cli
