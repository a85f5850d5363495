#include "sluice/ops/attention.h"

#include <cmath>

namespace sluice {
namespace {

struct Saved {
  AttentionInputs inputs;
  Sequences sequences;
  int64_t heads, kv_heads, past;
  double scale;
  Tensor y;
  Tensor log_sum_exp;  // [N, H]

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
std::vector<T*> capture_probs(const Context& context, const Saved& saved, std::vector<Tensor>& capture) {
  std::vector<T*> probs;
  capture.clear();
  for (int64_t s = 0; s < saved.sequences.count(); ++s) {
    const int64_t length = saved.sequences.length(s);
    capture.push_back(context.empty({saved.heads, length, saved.past + length}, saved.y.dtype()));
    probs.push_back(capture.back().data<T>());
  }
  return probs;
}

template <class T>
void forward(const Context& context, const Saved& saved, const AttentionOptions& options) {
  const auto& [q, k, v] = saved.inputs;
  std::vector<T*> probs;
  if (options.capture_probs != nullptr) probs = capture_probs<T>(context, saved, *options.capture_probs);
  AttentionForward<T> args{.shape = saved.shape(),
                           .scale = static_cast<T>(saved.scale),
                           .q = q.value().data<T>(),
                           .k = k.value().data<T>(),
                           .v = v.value().data<T>(),
                           .y = saved.y.data<T>(),
                           .log_sum_exp = saved.log_sum_exp.data<T>(),
                           .probs = options.capture_probs == nullptr ? nullptr : probs.data()};
  if (AttentionFigures* figures = options.capture_figures; figures != nullptr) {
    *figures = {context.empty_like(saved.log_sum_exp), context.empty_like(saved.log_sum_exp)};
    args.sink = figures->sink.data<T>();
    args.entropy = figures->entropy.data<T>();
  }
  run_units(context, context.kernels<T>().attention_forward, args,
            {saved.sequences.count() * saved.heads, attention_forward_workspace(args.shape)});
}

template <class T>
void backward(const Saved& saved, Gradients& gradients) {
  const Context& context = gradients.context();
  const auto& [q, k, v] = saved.inputs;
  Tensor dq = context.empty_like(q.value());
  Tensor dk = context.empty_like(k.value());
  Tensor dv = context.empty_like(v.value());
  const AttentionBackward<T> args{.shape = saved.shape(),
                                  .scale = static_cast<T>(saved.scale),
                                  .q = q.value().data<T>(),
                                  .k = k.value().data<T>(),
                                  .v = v.value().data<T>(),
                                  .y = saved.y.data<T>(),
                                  .log_sum_exp = saved.log_sum_exp.data<T>(),
                                  .dy = gradients.dy().data<T>(),
                                  .dq = dq.data<T>(),
                                  .dk = dk.data<T>(),
                                  .dv = dv.data<T>()};
  run_units(context, context.kernels<T>().attention_backward, args,
            {saved.sequences.count() * saved.kv_heads, attention_backward_workspace(args.shape)});
  gradients.add(q.slot(), std::move(dq));
  gradients.add(k.slot(), std::move(dk));
  gradients.add(v.slot(), std::move(dv));
}

}  // namespace

Var attention(const Context& context, const AttentionInputs& inputs, const Sequences& sequences,
              const AttentionOptions& options) {
  check(inputs, sequences, options);
  const auto head_dim = static_cast<double>(inputs.q.cols() / options.heads);
  const Saved saved{.inputs = inputs,
                    .sequences = sequences,
                    .heads = options.heads,
                    .kv_heads = options.kv_heads,
                    .past = options.past,
                    .scale = options.scale.value_or(1.0 / std::sqrt(head_dim)),
                    .y = context.empty_like(inputs.q.value()),
                    .log_sum_exp = context.empty({inputs.q.rows(), options.heads}, inputs.q.dtype())};
  with_compute_type("attention", inputs.q.dtype(),
                    [&](auto zero) { forward<decltype(zero)>(context, saved, options); });
  SLUICE_ASSERT(context.tape == nullptr || options.past == 0, "attention: no gradient with a past of {}",
                options.past);
  return result(context, saved.y, {inputs.q.slot(), inputs.k.slot(), inputs.v.slot()},
                [saved](Gradients& gradients) {
                  with_compute_type("attention", saved.y.dtype(),
                                    [&](auto zero) { backward<decltype(zero)>(saved, gradients); });
                });
}

}  // namespace sluice
