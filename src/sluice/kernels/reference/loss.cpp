#include <algorithm>
#include <cmath>

#include "sluice/kernels/reference/register.h"

namespace sluice::reference {
namespace {

template <class T>
void forward(const CrossEntropyForward<T>& args, Range rows) {
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const T* logits = args.logits + r * args.vocabulary;
    const T largest = *std::max_element(logits, logits + args.vocabulary);
    T sum = 0;
    for (int64_t i = 0; i < args.vocabulary; ++i) sum += std::exp(logits[i] - largest);
    args.log_sum_exp[r] = largest + std::log(sum);
    const int32_t target = args.targets[r];
    args.loss[r] = target == kIgnoredTarget ? T(0) : args.log_sum_exp[r] - logits[target];
  }
}

template <class T>
void backward(const CrossEntropyBackward<T>& args, Range rows) {
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    T* logits = args.logits + r * args.vocabulary;
    if (args.targets[r] == kIgnoredTarget) {
      std::fill(logits, logits + args.vocabulary, T(0));
      continue;
    }
    for (int64_t i = 0; i < args.vocabulary; ++i)
      logits[i] = args.factor * std::exp(logits[i] - args.log_sum_exp[r]);
    logits[args.targets[r]] -= args.factor;
  }
}

}  // namespace

template <class T>
void add_loss(Kernels<T>& table) {
  table.cross_entropy_forward = forward<T>;
  table.cross_entropy_backward = backward<T>;
}

template void add_loss(Kernels<float>&);
template void add_loss(Kernels<double>&);

}  // namespace sluice::reference
