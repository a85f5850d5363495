#include "sluice/analysis/view_difference.h"

#include <algorithm>
#include <cmath>

#include "sluice/analysis/moments.h"

namespace sluice {
namespace {

// The same id has to mean the same in both.
std::string why_not_comparable(const ViewedModel& a, const ViewedModel& b) {
  if (a.model.config().vocabulary != b.model.config().vocabulary)
    return "the models have different vocabularies";
  const uint32_t first = a.model.tokenizer_fingerprint(), second = b.model.tokenizer_fingerprint();
  if (first != 0 && second != 0 && first != second) return "the models have different tokenizers";
  return a.view.ids == b.view.ids ? "" : "the prompts have different tokens";
}

double divergence_of(std::span<const float> from, std::span<const float> to) {
  double sum = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    const double p = std::exp(static_cast<double>(from[i]));
    if (p > 0) sum += p * (static_cast<double>(from[i]) - to[i]);
  }
  return std::max(sum, 0.0);  // below 0 by rounding alone
}

PredictedToken top_of(std::span<const float> row) {
  const auto largest = std::ranges::max_element(row);
  return {static_cast<TokenId>(largest - row.begin()), std::exp(static_cast<double>(*largest))};
}

std::vector<ProbabilityChange> changes_of(std::span<const float> a, std::span<const float> b, size_t count) {
  std::vector<TokenId> ids;
  for (const std::span<const float> row : {a, b})
    for (const PredictedToken& token : likeliest(row, count))
      if (std::ranges::find(ids, token.id) == ids.end()) ids.push_back(token.id);
  std::vector<ProbabilityChange> changes;
  for (const TokenId id : ids) {
    const auto i = static_cast<size_t>(id);
    changes.push_back({id, std::exp(static_cast<double>(a[i])), std::exp(static_cast<double>(b[i]))});
  }
  std::ranges::stable_sort(changes, std::greater(),
                           [](const ProbabilityChange& each) { return std::abs(each.b - each.a); });
  return changes;
}

}  // namespace

double ViewDifference::mean_kl() const {
  return Moments::of(kl).mean();
}

ViewDifference compare_views(const ViewedModel& a, const ViewedModel& b, size_t count,
                             const JobControl& control) {
  ViewDifference difference{.why_not = why_not_comparable(a, b)};
  if (!difference.why_not.empty()) return difference;
  const ViewPredictions first(a.model, a.view, a.packing), second(b.model, b.view, b.packing);
  const int64_t length = a.view.length();
  int64_t equal = 0;
  for (Range rows{0, 0}; rows.begin < length; rows.begin = rows.end) {
    control.stop_if_cancelled();
    rows.end = std::min(rows.begin + ViewPredictions::kRows, length);
    const Tensor p = first.log_probabilities(rows), q = second.log_probabilities(rows);
    const auto columns = static_cast<size_t>(p.cols());
    for (int64_t i = 0; i < rows.size(); ++i) {
      const std::span<const float> from(p.data<float>() + i * p.cols(), columns);
      const std::span<const float> to(q.data<float>() + i * q.cols(), columns);
      difference.kl.push_back(divergence_of(from, to));
      const ChangedToken tokens{rows.begin + i, top_of(from), top_of(to)};
      equal += tokens.a.id == tokens.b.id ? 1 : 0;
      if (tokens.a.id != tokens.b.id && difference.changed.size() < kMostChanged)
        difference.changed.push_back(tokens);
      if (tokens.position == length - 1) difference.next = changes_of(from, to, count);
    }
    control.report("predictions", rows.end, length);
  }
  difference.agreement = static_cast<double>(equal) / static_cast<double>(length);
  return difference;
}

}  // namespace sluice
