// Cross-entropy of rows of logits. Bounded by the exponential; the logits are read twice forward, the second
// time from the L2 cache (a row of 32,000 is 125 KiB).
#include <math.h>  // not cmath: std::log(float) is inline, see register.h

#include "sluice/kernels/simd/math.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

void forward(const CrossEntropyForward<float>& args, Range rows) {
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const float* logits = args.logits + r * args.vocabulary;
    const float top = largest(args.vocabulary, [&](int64_t i, auto part) { return load(logits + i, part); });
    Vector total = hn::Zero(tag);
    for_each_vector(0, args.vocabulary, [&](int64_t i, auto part) {
      total = hn::Add(total, pad(exp(hn::Sub(load(logits + i, part), set(top))), 0.0F, part));
    });
    args.log_sum_exp[r] = top + logf(sum_of_lanes(total));
    const int32_t target = args.targets[r];
    args.loss[r] = target == kIgnoredTarget ? 0.0F : args.log_sum_exp[r] - logits[target];
  }
}

void backward(const CrossEntropyBackward<float>& args, Range rows) {
  const Vector factor = set(args.factor);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    float* logits = args.logits + r * args.vocabulary;
    if (args.targets[r] == kIgnoredTarget) {
      clear(logits, args.vocabulary);
      continue;
    }
    const Vector log_sum_exp = set(args.log_sum_exp[r]);
    for_each_vector(0, args.vocabulary, [&](int64_t i, auto part) {
      store(hn::Mul(factor, exp(hn::Sub(load(logits + i, part), log_sum_exp))), logits + i, part);
    });
    logits[args.targets[r]] -= args.factor;
  }
}

}  // namespace

void add_loss(Kernels<float>& table) {
  table.cross_entropy_forward = forward;
  table.cross_entropy_backward = backward;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
