#include "sluice/ops/attention.h"

#include <cmath>

namespace sluice {
namespace {

struct AttentionSaved {
  AttentionInputs inputs;
  Sequences sequences;
  int64_t heads, kv_heads, past;
  double scale;
  std::optional<GateForm> gate;
  Precision precision;  // of the operands
  Tensor y;             // before the gate; undefined if there is one and nothing is kept
  Tensor gated;         // undefined if there is no gate
  Tensor log_sum_exp;   // [N, H]

  template <class T>
  AttentionGate<T> kernel_gate() const {
    if (!gate) return {};
    return {.form = *gate, .scores = inputs.gate_scores.value().data<T>()};
  }

  AttentionShape shape() const {
    return {.starts = sequences.starts().data(),
            .sequences = sequences.count(),
            .longest = past + sequences.longest(),
            .past = past,
            .heads = heads,
            .kv_heads = kv_heads,
            .head_dim = inputs.q.cols() / heads};
  }
};

void check(const AttentionInputs& in, const Sequences& sequences, const AttentionOptions& options) {
  SLUICE_ASSERT(options.kv_heads > 0 && options.heads > 0 && options.heads % options.kv_heads == 0,
                "attention: {} query heads cannot share {} key/value heads", options.heads, options.kv_heads);
  SLUICE_ASSERT(in.q.cols() % options.heads == 0, "attention: {} query columns for {} heads", in.q.cols(),
                options.heads);
  const int64_t kv_cols = in.q.cols() / options.heads * options.kv_heads;
  SLUICE_ASSERT(in.k.cols() == kv_cols && in.v.cols() == kv_cols,
                "attention: keys {} and values {}, not {} columns", in.k.shape().text(), in.v.shape().text(),
                kv_cols);
  const int64_t keys = options.past + in.q.rows();
  SLUICE_ASSERT(in.q.rows() == sequences.tokens() && in.k.rows() == keys && in.v.rows() == keys,
                "attention: q {}, k {}, v {} for {} tokens after a past of {}", in.q.shape().text(),
                in.k.shape().text(), in.v.shape().text(), sequences.tokens(), options.past);
  SLUICE_ASSERT(options.past == 0 || sequences.count() == 1, "attention: a past of {} for {} sequences",
                options.past, sequences.count());
}

void check_gate(const AttentionInputs& in, const AttentionOptions& options) {
  SLUICE_ASSERT(options.gate->sharing == Sharing::Specific, "attention: a gate whose scores heads share");
  const bool headwise = options.gate->granularity == Granularity::Headwise;
  const Shape expected{in.q.rows(), headwise ? options.heads : in.q.cols()};
  SLUICE_ASSERT(in.gate_scores.shape() == expected, "attention: gate scores {}, expected {}",
                in.gate_scores.shape().text(), expected.text());
}

struct Units {
  int64_t count;
  int64_t workspace;  // elements, for each
};

// Calls kernel(args, unit, workspace) for every unit, on all threads if there is enough to do.
template <class T, class Args>
void run_units(const Context& context, void (*kernel)(const Args&, int64_t, T*), const Args& args,
               const Units& units) {
  const auto body = [&](int64_t unit) {
    const Tensor workspace = context.empty({units.workspace}, dtype_of<T>);
    kernel(args, unit, workspace.data<T>());
  };
  // A decoding step of a small model is over before another thread has started.
  constexpr int64_t kWorthThreads = 1 << 16;
  const AttentionShape& shape = args.shape;
  const int64_t queries = shape.starts[shape.sequences];
  if (queries * shape.longest * shape.heads * shape.head_dim < kWorthThreads) {
    for (int64_t unit = 0; unit < units.count; ++unit) body(unit);
  } else {
    context.threads().each(units.count, body);
  }
}

// Makes room for the probabilities; returns where those of each sequence go.
template <class T>
std::vector<T*> capture_probs(const Context& context, const AttentionSaved& saved,
                              std::vector<Tensor>& capture) {
  std::vector<T*> probs;
  capture.clear();
  for (int64_t s = 0; s < saved.sequences.count(); ++s) {
    const int64_t length = saved.sequences.length(s);
    capture.push_back(context.empty({saved.heads, length, saved.past + length}, saved.log_sum_exp.dtype()));
    probs.push_back(capture.back().data<T>());
  }
  return probs;
}

template <class T>
T* data_or_none(const Tensor& tensor) {
  return tensor.defined() ? tensor.data<T>() : nullptr;
}

// All heads of a group together, which saves work, unless that would leave threads idle.
int64_t heads_per_unit(const Context& context, const AttentionSaved& saved) {
  const bool enough = saved.sequences.count() * saved.kv_heads >= context.threads().count();
  return enough ? saved.heads / saved.kv_heads : 1;
}

template <class T>
void forward(const Context& context, const AttentionSaved& saved, const AttentionOptions& options) {
  const AttentionInputs& in = saved.inputs;
  std::vector<T*> probs;
  if (options.capture_probs != nullptr) probs = capture_probs<T>(context, saved, *options.capture_probs);
  AttentionForward<T> args{.shape = saved.shape(),
                           .heads_per_unit = heads_per_unit(context, saved),
                           .scale = static_cast<T>(saved.scale),
                           .q = in.q.value().data<T>(),
                           .k = in.k.value().data<T>(),
                           .v = in.v.value().data<T>(),
                           .y = data_or_none<T>(saved.y),
                           .gate = saved.kernel_gate<T>(),
                           .gated = data_or_none<T>(saved.gated),
                           .log_sum_exp = saved.log_sum_exp.data<T>(),
                           .probs = options.capture_probs == nullptr ? nullptr : probs.data()};
  const auto room_for = [&](Tensor* figure) -> T* {
    if (figure == nullptr) return nullptr;
    *figure = context.empty_like(saved.log_sum_exp);
    return figure->data<T>();
  };
  args.sink = room_for(options.capture_sink);
  args.entropy = room_for(options.capture_entropy);
  const Kernels<T>& kernels = context.kernels<T>();
  const int64_t units = saved.sequences.count() * saved.heads / args.heads_per_unit;
  if (saved.precision == Precision::Bf16) {
    run_units(context, kernels.attention_forward_bf16, args,
              {units, attention_forward_bf16_workspace(args.shape)});
  } else {
    run_units(context, kernels.attention_forward, args, {units, attention_forward_workspace(args.shape)});
  }
}

template <class T>
void backward(const AttentionSaved& saved, Gradients& gradients) {
  const Context& context = gradients.context();
  const AttentionInputs& in = saved.inputs;
  Tensor dq = context.empty_like(in.q.value());
  Tensor dk = context.empty_like(in.k.value());
  Tensor dv = context.empty_like(in.v.value());
  Tensor dscores = saved.gate ? context.empty_like(in.gate_scores.value()) : Tensor();
  const AttentionBackward<T> args{.shape = saved.shape(),
                                  .scale = static_cast<T>(saved.scale),
                                  .q = in.q.value().data<T>(),
                                  .k = in.k.value().data<T>(),
                                  .v = in.v.value().data<T>(),
                                  .y = saved.y.data<T>(),
                                  .log_sum_exp = saved.log_sum_exp.data<T>(),
                                  .dy = gradients.dy().data<T>(),
                                  .gate = saved.kernel_gate<T>(),
                                  .dq = dq.data<T>(),
                                  .dk = dk.data<T>(),
                                  .dv = dv.data<T>(),
                                  .dscores = data_or_none<T>(dscores)};
  const Kernels<T>& kernels = context.kernels<T>();
  const int64_t units = saved.sequences.count() * saved.kv_heads;
  if (saved.precision == Precision::Bf16) {
    run_units(context, kernels.attention_backward_bf16, args,
              {units, attention_backward_bf16_workspace(args.shape)});
  } else {
    run_units(context, kernels.attention_backward, args, {units, attention_backward_workspace(args.shape)});
  }
  gradients.add(in.q.slot(), std::move(dq));
  gradients.add(in.k.slot(), std::move(dk));
  gradients.add(in.v.slot(), std::move(dv));
  if (saved.gate) gradients.add(in.gate_scores.slot(), std::move(dscores));
}

}  // namespace

bool rounds_attention(const Engine& engine) {
  const Kernels<float>& kernels = engine.kernels<float>();
  return kernels.attention_forward_bf16 != kernels.attention_forward;
}

Var attention(const Context& context, const AttentionInputs& inputs, const Sequences& sequences,
              const AttentionOptions& options) {
  check(inputs, sequences, options);
  if (options.gate) check_gate(inputs, options);
  const auto head_dim = static_cast<double>(inputs.q.cols() / options.heads);
  const bool bf16 = context.precision == Precision::Bf16 || options.weights == Precision::Bf16;
  const Tensor& like = inputs.q.value();
  const AttentionSaved saved{
      .inputs = inputs,
      .sequences = sequences,
      .heads = options.heads,
      .kv_heads = options.kv_heads,
      .past = options.past,
      .scale = options.scale.value_or(1.0 / std::sqrt(head_dim)),
      .gate = options.gate,
      .precision = bf16 ? Precision::Bf16 : Precision::F32,
      .y = options.gate && context.tape == nullptr ? Tensor() : context.empty_like(like),
      .gated = options.gate ? context.empty_like(like) : Tensor(),
      .log_sum_exp = context.empty({inputs.q.rows(), options.heads}, inputs.q.dtype())};
  with_compute_type("attention", inputs.q.dtype(),
                    [&](auto zero) { forward<decltype(zero)>(context, saved, options); });
  SLUICE_ASSERT(context.tape == nullptr || options.past == 0, "attention: no gradient with a past of {}",
                options.past);
  // What becomes of the gated result is for others to keep.
  AttentionSaved kept = saved;
  kept.gated = {};
  return result(context, options.gate ? saved.gated : saved.y,
                {inputs.q.slot(), inputs.k.slot(), inputs.v.slot(), inputs.gate_scores.slot()},
                [kept](Gradients& gradients) {
                  with_compute_type("attention", kept.log_sum_exp.dtype(),
                                    [&](auto zero) { backward<decltype(zero)>(kept, gradients); });
                });
}

}  // namespace sluice
