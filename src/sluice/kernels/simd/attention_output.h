// What attention writes for a query once it has met all its keys.
#pragma once

#include <math.h>  // not cmath: std::log(float) is inline, see register.h

#include "sluice/kernels/simd/attention_gate.h"
#include "sluice/kernels/simd/head_rows.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// The softmax of a row over the keys met so far: exp(score - top) stands for each.
struct RunningSoftmax {
  float top = -kInfinity;
  float sum = 0;
  // Kept only if somebody wants to know:
  float first = 0;     // score of the first key
  float weighted = 0;  // sum of exp(score - top) · (score - top)

  float log_sum_exp() const { return top + logf(sum); }
  float sink() const { return hn::GetLane(exp(set(first - log_sum_exp()))); }
  float entropy() const { return logf(sum) - weighted / sum; }
};

inline void multiply_row(const float* x, float factor, int64_t n, float* y) {
  for_each_vector(0, n,
                  [&](int64_t i, auto part) { store(hn::Mul(load(x + i, part), set(factor)), y + i, part); });
}

// The outputs of one query head of one sequence.
class HeadOutput {
 public:
  HeadOutput(const AttentionForward<float>& args, int64_t sequence, int64_t head)
      : args_(args), sequence_(sequence), head_(head), at_(head_pair(args.shape, sequence, head)) {}

  const HeadPair& at() const { return at_; }

  // Where the probabilities of a query go, if somebody wants them. Until finish() they hold scaled scores.
  float* probs(int64_t query) const {
    if (args_.probs == nullptr) return nullptr;
    return args_.probs[sequence_] + (head_ * at_.length + query) * (args_.shape.past + at_.length);
  }

  // `sums` [hd] are of exp(score - top) · value, and no longer needed.
  void finish(int64_t query, const RunningSoftmax& softmax, float* sums) const {
    const auto& shape = args_.shape;
    const float log_sum_exp = softmax.log_sum_exp();
    const int64_t row = (at_.start + query) * shape.heads + head_;
    args_.log_sum_exp[row] = log_sum_exp;
    if (args_.sink != nullptr) args_.sink[row] = softmax.sink();
    if (args_.entropy != nullptr) args_.entropy[row] = softmax.entropy();
    float* y = args_.y == nullptr ? sums : args_.y + row * shape.head_dim;
    multiply_row(sums, 1.0F / softmax.sum, shape.head_dim, y);
    if (args_.gate.scores != nullptr) gate_result(args_, row, y);
    float* out = probs(query);
    if (out == nullptr) return;
    const int64_t seen = shape.past + query + 1;
    for_each_vector(0, seen, [&](int64_t i, auto part) {
      store(exp(hn::Sub(load(out + i, part), set(log_sum_exp))), out + i, part);
    });
    clear(out + seen, at_.length - query - 1);
  }

 private:
  const AttentionForward<float>& args_;
  int64_t sequence_, head_;
  HeadPair at_;
};

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
