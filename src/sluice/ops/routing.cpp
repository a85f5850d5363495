#include "sluice/ops/routing.h"

#include <algorithm>

namespace sluice {
namespace {

// Tokens that a thread takes at least: choosing 8 of 64 takes a fraction of a microsecond.
constexpr int64_t kTokensAtOnce = 64;

// The k largest of a row in their order, kept while the row passes. Only what is larger goes before another:
// of equals the first stays first, and what is not a number never moves up.
template <class T>
void choose(std::span<const T> row, std::span<int32_t> chosen) {
  const auto larger = [&](size_t e, int32_t other) { return row[e] > row[static_cast<size_t>(other)]; };
  size_t count = 0;
  for (size_t e = 0; e < row.size(); ++e) {
    if (count == chosen.size() && !larger(e, chosen.back())) continue;
    size_t at = count < chosen.size() ? count++ : count - 1;
    for (; at > 0 && larger(e, chosen[at - 1]); --at) chosen[at] = chosen[at - 1];
    chosen[at] = static_cast<int32_t>(e);
  }
}

// 1 for raw weights. If all chosen probabilities are 0, which only an intervention can do, weights are 0.
template <class T>
T share_of(const T* weights, int64_t k, ChoiceWeights kind) {
  if (kind == ChoiceWeights::Raw) return 1;
  T sum = 0;
  for (int64_t s = 0; s < k; ++s) sum += weights[s];
  return sum > 0 ? 1 / sum : T(0);
}

template <class T>
void choose_rows(const Tensor& probabilities, const ExpertChoice& to, ChoiceWeights kind, Range tokens) {
  const int64_t experts = probabilities.cols(), k = to.experts.cols();
  for (int64_t t = tokens.begin; t < tokens.end; ++t) {
    const T* row = probabilities.data<T>() + t * experts;
    int32_t* chosen = to.experts.data<int32_t>() + t * k;
    T* weights = to.weights.value().data<T>() + t * k;
    choose<T>({row, static_cast<size_t>(experts)}, {chosen, static_cast<size_t>(k)});
    for (int64_t s = 0; s < k; ++s) weights[s] = row[chosen[s]];
    const T share = share_of(weights, k, kind);
    for (int64_t s = 0; s < k; ++s) weights[s] *= share;
  }
}

struct ChoiceSaved {
  Var probabilities;
  Tensor experts;
  ChoiceWeights kind;
};

// Of normalised weights w = p / Σp: dp = (dw - Σ dw · w) / Σp.
template <class T>
void backward_of_choice(const ChoiceSaved& saved, Gradients& gradients) {
  const Tensor& p = saved.probabilities.value();
  const Tensor dp = gradients.context().zeros(p.shape(), p.dtype());
  const int64_t k = saved.experts.cols();
  gradients.context().threads().split(p.rows(), kTokensAtOnce, [&](Range tokens) {
    std::vector<T> chosen(static_cast<size_t>(k));
    for (int64_t t = tokens.begin; t < tokens.end; ++t) {
      const int32_t* experts = saved.experts.data<int32_t>() + t * k;
      const T* dw = gradients.dy().data<T>() + t * k;
      for (int64_t s = 0; s < k; ++s) chosen[static_cast<size_t>(s)] = p.data<T>()[t * p.cols() + experts[s]];
      const T share = share_of(chosen.data(), k, saved.kind);
      T mean = 0;
      if (saved.kind == ChoiceWeights::Normalised)
        for (int64_t s = 0; s < k; ++s) mean += dw[s] * chosen[static_cast<size_t>(s)] * share;
      for (int64_t s = 0; s < k; ++s) dp.data<T>()[t * p.cols() + experts[s]] = (dw[s] - mean) * share;
    }
  });
  gradients.add(saved.probabilities.slot(), dp);
}

}  // namespace

ExpertChoice choose_experts(const Context& context, const Var& probabilities, int64_t k, ChoiceWeights kind) {
  SLUICE_ASSERT(k >= 1 && k <= probabilities.cols(), "choose_experts: {} of {}", k, probabilities.cols());
  const ExpertChoice made{.experts = context.empty({probabilities.rows(), k}, DType::I32),
                          .weights = Var(context.empty({probabilities.rows(), k}, probabilities.dtype()))};
  with_compute_type("choose_experts", probabilities.dtype(), [&](auto zero) {
    context.threads().split(probabilities.rows(), kTokensAtOnce, [&](Range tokens) {
      choose_rows<decltype(zero)>(probabilities.value(), made, kind, tokens);
    });
  });
  const ChoiceSaved saved{probabilities, made.experts, kind};
  return {
      .experts = made.experts,
      .weights = result(context, made.weights.value(), {probabilities.slot()}, [saved](Gradients& gradients) {
        with_compute_type("choose_experts", gradients.dy().dtype(),
                          [&](auto zero) { backward_of_choice<decltype(zero)>(saved, gradients); });
      })};
}

// A counting sort: stable, so that a group has its tokens in their order.
ExpertRows sorted_by_expert(const Context& context, const Tensor& experts, int64_t expert_count) {
  ExpertRows rows{.groups = {std::vector<int64_t>(static_cast<size_t>(expert_count) + 1)},
                  .tokens = context.empty({experts.count()}, DType::I32),
                  .places = context.empty(experts.shape(), DType::I32)};
  std::vector<int64_t>& starts = rows.groups.starts;
  const auto chosen = experts.values<int32_t>();
  for (const int32_t expert : chosen) ++starts[static_cast<size_t>(expert) + 1];
  for (size_t e = 1; e < starts.size(); ++e) starts[e] += starts[e - 1];
  std::vector<int64_t> next = starts;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const int64_t place = next[static_cast<size_t>(chosen[i])]++;
    rows.places.values<int32_t>()[i] = static_cast<int32_t>(place);
    rows.tokens.data<int32_t>()[place] = static_cast<int32_t>(static_cast<int64_t>(i) / experts.cols());
  }
  return rows;
}

}  // namespace sluice
