// Causal attention, forward and backward, beside the same products done whole by OpenBLAS.
// Shapes: H heads, T tokens, hd head size.
#include "sluice/ops/attention.h"

#include "sluice/base/stopwatch.h"
#include "sluice/bench/case_runner.h"

namespace sluice::bench {
namespace {

// Two heads for each thread: all threads end together, and a repetition is as long on any machine.
std::vector<CaseShape> usual_shapes(const Threads& threads) {
  std::vector<CaseShape> shapes;
  for (const int64_t head_dim : {64, 128}) {
    for (const int64_t tokens : {512, 2048, 4096}) shapes.push_back({2 * threads.count(), tokens, head_dim});
  }
  return shapes;
}

// Multiply-adds of one product between queries and the keys that they see.
double causal_operations(const CaseShape& shape) {
  const auto tokens = static_cast<double>(shape.b);
  return static_cast<double>(shape.a) * tokens * (tokens + 1) * static_cast<double>(shape.c);
}

// Without tiles attention stays f32 whatever was asked for.
Precision computed_in(const Context& context) {
  return rounds_attention(context.engine) ? context.precision : Precision::F32;
}

void add_shape(CaseRunner& runner, const CaseShape& shape) {
  const auto [heads, tokens, head_dim] = shape;
  const Context context = runner.context();
  const Tensor x = random_matrix(context, tokens, heads * head_dim);
  const Sequences sequences = Sequences::equal(1, tokens);
  const AttentionOptions options{.heads = heads, .kv_heads = heads};
  // One head for the comparison; what is in it does not matter.
  const Tensor head = random_matrix(context, tokens, head_dim);
  const Tensor out = context.empty({tokens, head_dim}, DType::F32);
  const Tensor square = context.zeros({tokens, tokens}, DType::F32);
  const Gemm<float> scores = forward_product(head, head, square), rows = input_gradient(square, head, out),
                    columns = weight_gradient(square, head, out);
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
  runner.add({.name = "forward",
              .shape = shape.text(),
              .work = {.amount = 2 * operations, .bound = bound, .seconds = forward},
              .compute = precision,
              .openblas = {scores, rows}});
  runner.add({.name = "backward",
              .shape = shape.text(),
              .work = {.amount = 5 * operations, .bound = bound, .seconds = backward},
              .compute = precision,
              .openblas = {scores, scores, columns, rows, columns}});
}

}  // namespace

Table measure_attention(Engine& engine, const TableRequest& request, const JobControl& control) {
  CaseRunner runner(engine, request, control);
  for (const CaseShape& shape : runner.shapes(usual_shapes(engine.threads()))) add_shape(runner, shape);
  return runner.table(
      "attention",
      "Shapes are heads x tokens x head size. Counted are the products of the causal half: two "
      "forward, five backward.\nOpenBLAS does as many with the whole square of one head, "
      "without softmax.");
}

}  // namespace sluice::bench
