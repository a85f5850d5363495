#include "sluice/ops/convert.h"

namespace sluice {

Tensor convert(const Context& context, const Tensor& x, DType dtype) {
  SLUICE_ASSERT((x.dtype() == DType::BF16) != (dtype == DType::BF16),
                "convert: from {} to {} is not supported", name_of(x.dtype()), name_of(dtype));
  Tensor y = context.empty(x.shape(), dtype);
  const DType compute = dtype == DType::BF16 ? x.dtype() : dtype;
  with_compute_type("convert", compute, [&](auto zero) {
    using T = decltype(zero);
    if (dtype == DType::BF16) {
      const ToBf16<T> args{.x = x.data<T>(), .y = y.data<Bf16>()};
      context.run(context.kernels<T>().to_bf16, args, x.count(), 1);
    } else {
      const FromBf16<T> args{.x = x.data<Bf16>(), .y = y.data<T>()};
      context.run(context.kernels<T>().from_bf16, args, x.count(), 1);
    }
  });
  return y;
}

}  // namespace sluice
