#include "sluice/ops/linear_cross_entropy.h"

#include <algorithm>

#include "sluice/ops/arithmetic.h"
#include "sluice/ops/weight_product.h"

namespace sluice {
namespace {

// Shapes: x [N, D], weight [V, D], logits [chunk, V].
struct LossSaved {
  Var x;
  Weight weight;
  Tensor targets;
  Tensor log_sum_exp;  // [N]
  int64_t chunk;
  int64_t counted;  // targets that are not ignored

  int64_t width() const { return x.cols(); }
  int64_t vocabulary() const { return weight.outputs(); }
  Tensor logits(const Context& context) const {
    return context.empty({std::min(chunk, x.rows()), vocabulary()}, x.dtype());
  }
};

// Calls body for consecutive ranges of at most `chunk` rows.
template <class Body>
void for_chunks(const LossSaved& saved, const Body& body) {
  for (int64_t begin = 0; begin < saved.x.rows(); begin += saved.chunk) {
    body(Range{begin, std::min(begin + saved.chunk, saved.x.rows())});
  }
}

// The weight is packed once for all chunks, by a handle of its own that keeps it no longer than that. For a
// single one it is packed part by part instead, which takes less memory.
struct ChunkWeight {
  Context context;
  Weight weight;

  ChunkWeight(const Context& outer, const LossSaved& saved)
      : context(outer.with_packing(several(saved) ? Packing::Keep : outer.packing)),
        weight(packs_for_itself(outer, saved) ? Weight(saved.weight.dense()) : saved.weight) {}

  static bool several(const LossSaved& saved) { return saved.x.rows() > saved.chunk; }
  static bool packs_for_itself(const Context& outer, const LossSaved& saved) {
    return outer.packing == Packing::Once && several(saved) && !saved.weight.is_int8();
  }
};

template <class T>
StoreSums<T> store_to(T* c, int64_t rows, int64_t columns) {
  return {.m = rows, .n = columns, .c = c, .c_stride = columns};
}

template <class T>
void compute_logits(const ChunkWeight& chunk, const LossSaved& saved, Range rows, T* logits) {
  ProductInput x(saved.x.value().rows_between(rows.begin, rows.end));
  multiply_forward<T>(chunk.context, x, chunk.weight, store_to(logits, rows.size(), saved.vocabulary()));
}

template <class T>
void forward(const Context& outer, const LossSaved& saved, const Tensor& loss) {
  const ChunkWeight weight(outer, saved);
  const Context& context = weight.context;
  const Tensor logits = saved.logits(context);
  const Tensor losses = context.empty({saved.x.rows()}, saved.x.dtype());
  for_chunks(saved, [&](Range rows) {
    compute_logits(weight, saved, rows, logits.data<T>());
    const CrossEntropyForward<T> args{.logits = logits.data<T>(),
                                      .targets = saved.targets.data<int32_t>() + rows.begin,
                                      .vocabulary = saved.vocabulary(),
                                      .loss = losses.data<T>() + rows.begin,
                                      .log_sum_exp = saved.log_sum_exp.data<T>() + rows.begin};
    context.run(context.kernels<T>().cross_entropy_forward, args, rows.size(), args.vocabulary);
  });
  const auto counted = static_cast<double>(std::max<int64_t>(saved.counted, 1));
  *loss.data<T>() = static_cast<T>(sum(context, losses) / counted);
}

struct Chunk {
  Range rows;
  Tensor dlogits;  // of at least as many rows
};

// Undefined tensors where no gradient is wanted.
struct Targets {
  Destination dx, dw;
};

// dx = dlogits · W for one chunk, dW += dlogitsᵀ · x over all of them.
template <class T>
void spread(const ChunkWeight& weight, const LossSaved& saved, const Chunk& chunk, const Targets& targets) {
  const auto& [rows, dlogits] = chunk;
  const auto& [dx, dw] = targets;
  const int64_t width = saved.width();
  if (dx.tensor.defined()) {
    StoreSums<T> to = store_to(dx.tensor.data<T>() + rows.begin * width, rows.size(), width);
    if (dx.output == Output::Accumulate) to.addend = to.c;
    to.addend_stride = width;
    multiply_backward<T>(weight.context, dlogits.rows_between(0, rows.size()), weight.weight, to);
  }
  if (dw.tensor.defined()) {
    ProductInput x(saved.x.value().rows_between(rows.begin, rows.end));
    const bool adds = rows.begin > 0 || dw.output == Output::Accumulate;
    StoreSums<T> to = store_to(dw.tensor.data<T>(), saved.vocabulary(), width);
    if (adds) to.addend = to.c;
    to.addend_stride = width;
    multiply_gradient<T>(weight.context, dlogits.rows_between(0, rows.size()), x, to);
  }
}

template <class T>
void backward(const LossSaved& saved, Gradients& gradients) {
  const ChunkWeight weight(gradients.context(), saved);
  const Context& context = weight.context;
  const Tensor logits = saved.logits(context);
  const auto target_for = [&](const Var& var) {
    return var.wants_gradient() ? gradients.target(var.slot(), var.shape(), var.dtype()) : Destination{};
  };
  const Targets targets{.dx = target_for(saved.x), .dw = target_for(saved.weight.dense())};
  const bool untouched = saved.x.rows() == 0 && targets.dw.output == Output::Overwrite;
  if (untouched && targets.dw.tensor.defined()) targets.dw.tensor.fill_zero();
  const T dloss = *gradients.dy().data<T>();
  for_chunks(saved, [&](Range rows) {
    compute_logits(weight, saved, rows, logits.data<T>());
    const CrossEntropyBackward<T> args{.logits = logits.data<T>(),
                                       .targets = saved.targets.data<int32_t>() + rows.begin,
                                       .log_sum_exp = saved.log_sum_exp.data<T>() + rows.begin,
                                       .vocabulary = saved.vocabulary(),
                                       .factor = dloss / static_cast<T>(std::max<int64_t>(saved.counted, 1))};
    context.run(context.kernels<T>().cross_entropy_backward, args, rows.size(), args.vocabulary);
    spread<T>(weight, saved, {rows, logits}, targets);
  });
}

}  // namespace

Var linear_cross_entropy(const Context& context, const Var& x, const Weight& weight, const Tensor& targets,
                         const LinearCrossEntropyOptions& options) {
  check_weight("linear_cross_entropy", context, x.value(), weight);
  SLUICE_ASSERT(targets.count() == x.rows(), "linear_cross_entropy: {} targets for {} rows", targets.count(),
                x.rows());
  SLUICE_ASSERT(options.chunk > 0 && weight.outputs() > 0, "linear_cross_entropy: chunk {}, vocabulary {}",
                options.chunk, weight.outputs());
  const auto ids = targets.values<int32_t>();
  SLUICE_ASSERT(
      std::ranges::all_of(
          ids, [&](int32_t id) { return id == kIgnoredTarget || (id >= 0 && id < weight.outputs()); }),
      "linear_cross_entropy: a target lies outside the vocabulary of {}", weight.outputs());
  const LossSaved saved{
      .x = x,
      .weight = weight,
      .targets = targets,
      .log_sum_exp = context.empty({x.rows()}, x.dtype()),
      .chunk = options.chunk,
      .counted = std::ranges::count_if(ids, [](int32_t id) { return id != kIgnoredTarget; })};
  Tensor loss = context.empty({}, x.dtype());
  with_compute_type("linear_cross_entropy", x.dtype(),
                    [&](auto zero) { forward<decltype(zero)>(context, saved, loss); });
  return result(context, std::move(loss), {x.slot(), weight.dense().slot()}, [saved](Gradients& gradients) {
    with_compute_type("linear_cross_entropy", saved.x.dtype(),
                      [&](auto zero) { backward<decltype(zero)>(saved, gradients); });
  });
}

}  // namespace sluice
