#include <cmath>

#include "sluice/kernels/reference/register.h"

namespace sluice::reference {
namespace {

template <class T>
void adamw(const AdamWStep<T>& args, Range range) {
  for (int64_t i = range.begin; i < range.end; ++i) {
    const T grad = args.grad[i] * args.grad_scale;
    args.first[i] = args.beta1 * args.first[i] + (1 - args.beta1) * grad;
    args.second[i] = args.beta2 * args.second[i] + (1 - args.beta2) * grad * grad;
    const T direction = args.first[i] * args.first_correction /
                        (std::sqrt(args.second[i] * args.second_correction) + args.eps);
    args.value[i] -= args.rate * (direction + args.decay * args.value[i]);
  }
}

}  // namespace

template <class T>
void add_optimizer(Kernels<T>& table) {
  table.adamw = adamw<T>;
}

template void add_optimizer(Kernels<float>&);
template void add_optimizer(Kernels<double>&);

}  // namespace sluice::reference
