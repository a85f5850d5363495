// Softmax of rows. Bounded by the exponential; a row stays in the first cache.
#include "sluice/kernels/softmax.h"

#include "sluice/kernels/simd/math.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

void softmax_forward(const SoftmaxForward<float>& args, Range rows) {
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const float* x = args.x + r * args.width;
    float* y = args.y + r * args.width;
    const float top = largest(args.width, [&](int64_t i, auto part) { return load(x + i, part); });
    Vector total = hn::Zero(tag);
    for_each_vector(0, args.width, [&](int64_t i, auto part) {
      const Vector power = exp(hn::Sub(load(x + i, part), set(top)));
      store(power, y + i, part);
      total = hn::Add(total, pad(power, 0.0F, part));
    });
    const Vector share = set(1.0F / sum_of_lanes(total));
    for_each_vector(0, args.width,
                    [&](int64_t i, auto part) { store(hn::Mul(load(y + i, part), share), y + i, part); });
  }
}

void softmax_backward(const SoftmaxBackward<float>& args, Range rows) {
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const float *y = args.y + r * args.width, *dy = args.dy + r * args.width;
    float* dx = args.dx + r * args.width;
    Vector total = hn::Zero(tag);
    for_each_vector(0, args.width, [&](int64_t i, auto part) {
      total = hn::Add(total, pad(hn::Mul(load(y + i, part), load(dy + i, part)), 0.0F, part));
    });
    const Vector mean = set(sum_of_lanes(total));
    for_each_vector(0, args.width, [&](int64_t i, auto part) {
      store(hn::Mul(load(y + i, part), hn::Sub(load(dy + i, part), mean)), dx + i, part);
    });
  }
}

}  // namespace

void add_softmax(Kernels<float>& table) {
  table.softmax_forward = softmax_forward;
  table.softmax_backward = softmax_backward;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
