#include "sluice/ops/embedding.h"

#include <algorithm>

namespace sluice {
namespace {

// Rows of a bf16 table, widened to f32. For inference: not recorded.
Tensor widened_rows(const Context& context, const Tensor& table, const Tensor& ids) {
  const int64_t width = table.cols();
  Tensor y = context.empty({ids.count(), width}, DType::F32);
  context.threads().split(ids.count(), 16, [&](Range tokens) {
    for (int64_t n = tokens.begin; n < tokens.end; ++n) {
      context.kernels<float>().from_bf16(
          {.x = table.data<Bf16>() + ids.data<int32_t>()[n] * width, .y = y.data<float>() + n * width},
          {0, width});
    }
  });
  return y;
}

}  // namespace

Var embedding(const Context& context, const Var& table, const Tensor& ids) {
  const int64_t vocabulary = table.rows();
  const auto outside =
      std::ranges::find_if(ids.values<int32_t>(), [&](int32_t id) { return id < 0 || id >= vocabulary; });
  SLUICE_ASSERT(outside == ids.values<int32_t>().end(), "embedding: id {} of a vocabulary of {}", *outside,
                vocabulary);
  if (table.dtype() == DType::BF16) return Var(widened_rows(context, table.value(), ids));
  Tensor y = context.empty({ids.count(), table.cols()}, table.dtype());
  with_compute_type("embedding", table.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const EmbeddingForward<T> args{.table = table.value().data<T>(),
                                   .ids = ids.data<int32_t>(),
                                   .width = table.cols(),
                                   .y = y.data<T>()};
    context.run(context.kernels<T>().embedding_forward, args, ids.count(), args.width);
  });
  return result(context, std::move(y), {table.slot()},
                [table = table.slot(), shape = table.shape(), ids](Gradients& gradients) {
                  const Tensor& dy = gradients.dy();
                  const Tensor dtable = gradients.accumulator(table, shape, dy.dtype());
                  with_compute_type("embedding", dy.dtype(), [&](auto zero) {
                    using T = decltype(zero);
                    const EmbeddingBackward<T> args{.ids = ids.data<int32_t>(),
                                                    .tokens = ids.count(),
                                                    .dy = dy.data<T>(),
                                                    .width = dy.cols(),
                                                    .dtable = dtable.data<T>()};
                    const Context& inner = gradients.context();
                    inner.run(inner.kernels<T>().embedding_backward, args, args.width, args.tokens);
                  });
                });
}

}  // namespace sluice
