// The ops between the products of a model, mostly bounded by memory.
// Shapes: N tokens, D hidden, V vocabulary, hd head size.
#include <fmt/format.h>

#include "sluice/base/error.h"
#include "sluice/base/stopwatch.h"
#include "sluice/bench/case_runner.h"
#include "sluice/ops/convert.h"
#include "sluice/ops/embedding.h"
#include "sluice/ops/gate.h"
#include "sluice/ops/linear_cross_entropy.h"
#include "sluice/ops/norm_rope.h"
#include "sluice/ops/rms_norm.h"
#include "sluice/ops/swiglu.h"

namespace sluice::bench {
namespace {

// A tensor of tokens is 64 MiB, twice the last-level cache of most CPUs.
const std::vector<CaseShape> kOpsShapes = {{8192, 2048, 32000}};

using Vars = std::vector<Var>;

// An op with its gradient. Amounts are bytes or operations, as the bound has it.
struct Op {
  std::string name, shape;
  std::vector<Tensor> operands;
  std::function<Var(const Context&, const Vars&)> apply;
  double forward, backward;
  Bound bound = memory_bound();
  std::vector<Gemm<float>> openblas = {}, openblas_backward = {};
};

double forward_seconds(const Context& context, const Op& op) {
  Vars operands;
  for (const Tensor& operand : op.operands) operands.emplace_back(operand);
  return seconds_of([&] { op.apply(context, operands); });
}

double backward_seconds(const Context& context, const Op& op) {
  Tape tape;
  Vars operands;
  for (const Tensor& operand : op.operands) operands.push_back(tape.leaf(operand));
  const Var y = op.apply(context.with_tape(&tape), operands);
  const Tensor seed = context.empty_like(y.value());
  std::ranges::fill(seed.values<float>(), 1.0F);
  return seconds_of([&] { tape.backward(context, y, seed); });
}

// Logits are their own gradient here: what they hold makes no product faster.
struct LossOperands {
  Tensor x, weight, logits, dx, dw;
};

// linear_cross_entropy's backward as OpenBLAS does it: the logits, dx and dW. The first alone is its forward.
// The operands must outlive them.
std::vector<Gemm<float>> loss_products(const LossOperands& loss) {
  return {forward_product(loss.x, loss.weight, loss.logits),
          input_gradient(loss.logits, loss.weight, loss.dx), weight_gradient(loss.logits, loss.x, loss.dw)};
}

class OpsBench {
 public:
  OpsBench(CaseRunner& runner, const CaseShape& shape)
      : runner_(runner),
        context_(runner.context()),
        tokens_(shape.a),
        hidden_(shape.b),
        vocabulary_(shape.c) {
    head_dim_ = hidden_ % 128 == 0 ? 128 : hidden_;
  }

  void run() {
    norms();
    activations();
    ends();
    loss();
    optimizer();
    conversions();
  }

 private:
  // Bytes of so many tensors of tokens, in f32.
  double tensors(double count) const {
    return count * sizeof(float) * static_cast<double>(tokens_) * static_cast<double>(hidden_);
  }
  std::string shape() const { return fmt::format("{}x{}", tokens_, hidden_); }
  Tensor tokens() { return random_matrix(context_, tokens_, hidden_); }

  Tensor numbers(int64_t count, int64_t below) {
    const Tensor tensor = context_.empty({count}, DType::I32);
    for (int64_t i = 0; i < count; ++i) tensor.data<int32_t>()[i] = static_cast<int32_t>(i * 7919 % below);
    return tensor;
  }

  void add(const std::string& name, const Work& work) {
    runner_.add({.name = name, .shape = shape(), .work = work});
  }

  void add(const Op& op) {
    runner_.add({.name = op.name,
                 .shape = op.shape,
                 .work = {.amount = op.forward,
                          .bound = op.bound,
                          .seconds = [&] { return forward_seconds(context_, op); }},
                 .openblas = op.openblas});
    runner_.add({.name = op.name + " backward",
                 .shape = op.shape,
                 .work = {.amount = op.backward,
                          .bound = op.bound,
                          .seconds = [&] { return backward_seconds(context_, op); }},
                 .openblas = op.openblas_backward});
  }

  void norms() {
    add({.name = "rms_norm",
         .shape = shape(),
         .operands = {tokens(), random_matrix(context_, 1, hidden_).reshaped({hidden_})},
         .apply = [](const Context& context, const Vars& in) { return rms_norm(context, in[0], in[1]); },
         .forward = tensors(2),
         .backward = tensors(3)});
    const RopeTable table = rope_table(
        context_, {.positions = tokens_, .frequencies = rope_frequencies(head_dim_, 1e4)}, DType::F32);
    const Rotary rotary{table, numbers(tokens_, tokens_)};
    add({.name = "norm_rope",
         .shape = shape(),
         .operands = {tokens(), random_matrix(context_, 1, head_dim_).reshaped({head_dim_})},
         .apply =
             [&](const Context& context, const Vars& in) {
               return norm_rope(context, in[0], in[1], rotary, {.heads = hidden_ / head_dim_});
             },
         .forward = tensors(2),
         .backward = tensors(3)});
  }

  void activations() {
    add({.name = "swiglu",
         .shape = shape(),
         .operands = {tokens(), tokens()},
         .apply = [](const Context& context, const Vars& in) { return swiglu(context, in[0], in[1]); },
         .forward = tensors(3),
         .backward = tensors(5)});
    // The usual one, the cheapest and the dearest.
    gate_of("gate sigmoid", {.activation = Activation::Sigmoid});
    gate_of("gate identity", {.activation = Activation::Identity});
    gate_of("gate softplus", {.activation = Activation::Softplus});
    gate_of("gate headwise", {.activation = Activation::Sigmoid, .granularity = Granularity::Headwise});
  }

  void gate_of(const std::string& name, const GateForm& form) {
    const int64_t heads = hidden_ / head_dim_;
    const bool headwise = form.granularity == Granularity::Headwise;
    // A score for each head is nothing beside a head.
    add({.name = name,
         .shape = shape(),
         .operands = {tokens(), random_matrix(context_, tokens_, headwise ? heads : hidden_)},
         .apply = [&](const Context& context,
                      const Vars& in) { return gate(context, in[0], in[1], heads, form); },
         .forward = tensors(headwise ? 2 : 3),
         .backward = tensors(headwise ? 3 : 5)});
  }

  void ends() {
    const Tensor ids = numbers(tokens_, vocabulary_);
    const double table = sizeof(float) * static_cast<double>(vocabulary_) * static_cast<double>(hidden_);
    // The gradient clears the table, then reads and writes its rows.
    add({.name = "embedding",
         .shape = shape(),
         .operands = {random_matrix(context_, vocabulary_, hidden_)},
         .apply = [&](const Context& context, const Vars& in) { return embedding(context, in[0], ids); },
         .forward = tensors(2),
         .backward = table + tensors(3)});
  }

  // Of fewer tokens, one chunk of logits by default: its work grows with the vocabulary.
  void loss() {
    const int64_t rows = std::max<int64_t>(tokens_ / 32, 1);
    const Tensor targets = numbers(rows, vocabulary_);
    const Tensor x = random_matrix(context_, rows, hidden_);
    const Tensor weight = random_matrix(context_, vocabulary_, hidden_);
    const LossOperands operands{.x = x,
                                .weight = weight,
                                .logits = context_.zeros({rows, vocabulary_}, DType::F32),
                                .dx = context_.empty(x.shape(), DType::F32),
                                .dw = context_.empty(weight.shape(), DType::F32)};
    const std::vector<Gemm<float>> products = loss_products(operands);
    const double product = operations(products.front());
    // The gradient computes the logits again.
    add({.name = "linear_cross_entropy",
         .shape = CaseShape{rows, hidden_, vocabulary_}.text(),
         .operands = {x, weight},
         .apply = [&](const Context& context,
                      const Vars& in) { return linear_cross_entropy(context, in[0], in[1], targets); },
         .forward = product,
         .backward = 3 * product,
         .bound = runner_.arithmetic(),
         .openblas = {products.front()},
         .openblas_backward = products});
  }

  void optimizer() {
    const Tensor value = tokens(), grad = tokens();
    const Tensor first = context_.zeros(value.shape(), DType::F32);
    const Tensor second = context_.zeros(value.shape(), DType::F32);
    const AdamWStep<float> step{.value = value.data<float>(),
                                .grad = grad.data<float>(),
                                .first = first.data<float>(),
                                .second = second.data<float>(),
                                .rate = 1e-4F,
                                .beta1 = 0.9F,
                                .beta2 = 0.95F,
                                .eps = 1e-8F,
                                .decay = 0.1F};
    add("adamw",
        {.amount = tensors(7), .bound = memory_bound(), .seconds = [&] {
           return seconds_of([&] { context_.run(context_.kernels<float>().adamw, step, value.count(), 1); });
         }});
  }

  void conversions() {
    const Tensor wide = tokens();
    const Tensor narrow = convert(context_, wide, DType::BF16);
    const auto converting = [&](const Tensor& from, DType to) {
      return Work{.amount = tensors(1.5), .bound = memory_bound(), .seconds = [this, &from, to] {
                    return seconds_of([&] { convert(context_, from, to); });
                  }};
    };
    add("to bf16", converting(wide, DType::BF16));
    add("from bf16", converting(narrow, DType::F32));
    pack("pack A tiles", wide, TileFormat::A);
    pack("pack B tiles", wide, TileFormat::B);
  }

  void pack(const std::string& name, const Tensor& x, TileFormat format) {
    const Tensor tiles = context_.empty({packed_count(tokens_, hidden_)}, DType::BF16);
    const PackTiles<float> args{.x = x.data<float>(),
                                .stride = hidden_,
                                .outer = tokens_,
                                .depth = hidden_,
                                .format = format,
                                .tiles = tiles.data<Bf16>()};
    add(name, {.amount = tensors(1.5), .bound = memory_bound(), .seconds = [&] {
                 return seconds_of([&] {
                   context_.run(context_.kernels<float>().pack_tiles, args, strip_pairs(tokens_),
                                hidden_ * kTileRows);
                 });
               }});
  }

  CaseRunner& runner_;
  Context context_;
  int64_t tokens_, hidden_, vocabulary_;
  int64_t head_dim_;
};

}  // namespace

Table measure_ops(Engine& engine, const TableRequest& request, const JobControl& control) {
  for (const CaseShape& shape : request.shapes) {
    if (shape.b % 2 == 0) continue;
    throw usage_error({.where = "bench ops: shape " + shape.text(),
                       .what = "channels are rotated in pairs",
                       .expected = "an even hidden size",
                       .got = std::to_string(shape.b)});
  }
  CaseRunner runner(engine, request, control);
  for (const CaseShape& shape : runner.shapes(kOpsShapes)) OpsBench(runner, shape).run();
  return runner.table("ops",
                      "Counted are operands read and results written, each once; of linear_cross_entropy the "
                      "products, one forward and three backward.");
}

}  // namespace sluice::bench
