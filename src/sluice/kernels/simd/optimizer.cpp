// Bounded by memory: four arrays are read and three written, once.
#include "sluice/kernels/simd/lanes.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

void adamw(const AdamWStep<float>& args, Range range) {
  const Vector beta1 = set(args.beta1);
  const Vector beta2 = set(args.beta2);
  for_each_vector(range.begin, range.end, [&](int64_t i, auto part) {
    const Vector grad = hn::Mul(load(args.grad + i, part), set(args.grad_scale));
    const Vector first = hn::MulAdd(beta1, load(args.first + i, part), hn::Mul(set(1.0F - args.beta1), grad));
    const Vector second =
        hn::MulAdd(beta2, load(args.second + i, part), hn::Mul(set(1.0F - args.beta2), hn::Mul(grad, grad)));
    const Vector size = hn::Sqrt(hn::Mul(second, set(args.second_correction)));
    const Vector direction =
        hn::Div(hn::Mul(first, set(args.first_correction)), hn::Add(size, set(args.eps)));
    const Vector value = load(args.value + i, part);
    const Vector change = hn::MulAdd(set(args.decay), value, direction);
    store(first, args.first + i, part);
    store(second, args.second + i, part);
    store(hn::NegMulAdd(set(args.rate), change, value), args.value + i, part);
  });
}

}  // namespace

void add_optimizer(Kernels<float>& table) {
  table.adamw = adamw;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
