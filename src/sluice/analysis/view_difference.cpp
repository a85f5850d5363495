#include "sluice/analysis/view_difference.h"

#include <algorithm>
#include <cmath>

#include "sluice/analysis/moments.h"
#include "sluice/analysis/weighted_difference.h"
#include "sluice/ops/softmax.h"

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

std::span<const float> row_of(const Tensor& matrix, int64_t row) {
  return {matrix.data<float>() + row * matrix.cols(), static_cast<size_t>(matrix.cols())};
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
  std::vector<ChangedToken> tops(static_cast<size_t>(length));
  difference.kl.resize(static_cast<size_t>(length));
  for (Range rows{0, 0}; rows.begin < length; rows.begin = rows.end) {
    control.stop_if_cancelled();
    rows.end = std::min(rows.begin + ViewPredictions::kRows, length);
    const Tensor p = first.log_probabilities(rows), q = second.log_probabilities(rows);
    const Tensor weights = softmax(a.model.context(), Var(p)).value();
    // Of large vocabularies this takes as long as the logits.
    a.model.engine().threads().each(rows.size(), [&](int64_t i) {
      const auto at = static_cast<size_t>(rows.begin + i);
      const std::span<const float> from = row_of(p, i), to = row_of(q, i);
      // Below 0 by rounding alone.
      difference.kl[at] = std::max(weighted_difference(row_of(weights, i), from, to), 0.0);
      tops[at] = {rows.begin + i, top_of(from), top_of(to)};
    });
    if (rows.end == length)
      difference.next = changes_of(row_of(p, rows.size() - 1), row_of(q, rows.size() - 1), count);
    control.report("predictions", rows.end, length);
  }
  const auto is_equal = [](const ChangedToken& token) { return token.a.id == token.b.id; };
  difference.agreement =
      static_cast<double>(std::ranges::count_if(tops, is_equal)) / static_cast<double>(length);
  std::erase_if(tops, is_equal);
  difference.changed = std::move(tops);
  return difference;
}

}  // namespace sluice
