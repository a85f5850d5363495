#include "sluice/analysis/view_predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sluice/base/error.h"
#include "sluice/nn/tap_points.h"

namespace sluice {
namespace {

void normalise_rows(const Context& context, const Tensor& logits) {
  normalise_logits(context, logits, std::vector<TokenId>(static_cast<size_t>(logits.rows())));
}

Tensor some_rows(Engine& engine, const Tensor& matrix, Range rows) {
  const auto width = static_cast<size_t>(matrix.cols());
  return Tensor::from<float>(
      engine.pool(), {rows.size(), matrix.cols()},
      std::span<const float>(matrix.values<float>())
          .subspan(static_cast<size_t>(rows.begin) * width, static_cast<size_t>(rows.size()) * width));
}

}  // namespace

std::vector<float> normalise_logits(const Context& context, const Tensor& logits,
                                    std::span<const TokenId> targets) {
  std::vector<float> losses(targets.size()), log_sums(targets.size());
  const CrossEntropyForward<float> args{.logits = logits.data<float>(),
                                        .targets = targets.data(),
                                        .vocabulary = logits.cols(),
                                        .loss = losses.data(),
                                        .log_sum_exp = log_sums.data()};
  context.run(context.kernels<float>().cross_entropy_forward, args, logits.rows(), args.vocabulary);
  context.threads().split(logits.rows(), 1, [&](Range rows) {
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      float* row = logits.data<float>() + r * logits.cols();
      for (int64_t i = 0; i < logits.cols(); ++i) row[i] -= log_sums[static_cast<size_t>(r)];
    }
  });
  return losses;
}

Tensor ViewPredictions::log_probabilities(Range rows) const {
  if (view_.log_probabilities.defined()) return some_rows(model_.engine(), view_.log_probabilities, rows);
  Intervener intervener(view_.interventions);
  const bool changed = intervener.wants({TapName::kNoLayer, points::kLogits});
  const Context context = model_.context(changed ? &intervener : nullptr, packing_);
  // An intervention may need all tokens, and always has to know where they stand.
  if (changed) intervener.begin_pass({Sequences::equal(1, view_.length()), 0});
  const Tensor hidden = changed ? view_.hidden : some_rows(model_.engine(), view_.hidden, rows);
  Tensor logits = model_.decoder().logits(context, Var(hidden)).value();
  if (changed) logits = some_rows(model_.engine(), logits, rows);
  normalise_rows(context, logits);
  return logits;
}

Tensor lens_log_probabilities(const LoadedModel& model, const Tensor& stream, Range rows, Packing packing) {
  const Context context = model.context(nullptr, packing);
  const Decoder& decoder = model.decoder();
  const Var piece(some_rows(model.engine(), stream, rows));
  Tensor logits = decoder.logits(context, decoder.finish(context, piece)).value();
  normalise_rows(context, logits);
  return logits;
}

std::vector<PredictedToken> likeliest(std::span<const float> log_probabilities, size_t count) {
  std::vector<TokenId> ids(log_probabilities.size());
  std::iota(ids.begin(), ids.end(), 0);
  count = std::min(count, ids.size());
  const auto better = [&](TokenId a, TokenId b) {
    const float first = log_probabilities[static_cast<size_t>(a)],
                second = log_probabilities[static_cast<size_t>(b)];
    return first != second ? first > second : a < b;
  };
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(), better);
  std::vector<PredictedToken> tokens;
  for (const TokenId id : std::span(ids).first(count))
    tokens.push_back({id, std::exp(static_cast<double>(log_probabilities[static_cast<size_t>(id)]))});
  return tokens;
}

double entropy_of(std::span<const float> log_probabilities) {
  double sum = 0;
  for (const double each : log_probabilities)
    if (std::isfinite(each)) sum -= std::exp(each) * each;
  return sum;
}

std::vector<double> sampled_probabilities(std::span<const float> log_probabilities,
                                          const SamplerOptions& options) {
  std::vector<double> sampled(log_probabilities.size());
  for (const Sampler::Candidate& each : Sampler::candidates(log_probabilities, options))
    sampled[static_cast<size_t>(each.id)] = each.weight;
  return sampled;
}

NextTokens next_tokens(const LoadedModel& model, const PromptView& view, const NextTokensRequest& request) {
  const int64_t at = request.position;
  if (at < 0 || at >= view.length())
    throw usage_error({.where = "position",
                       .expected = fmt::format("0 to {}", view.length() - 1),
                       .got = std::to_string(at)});
  const Tensor predicted = ViewPredictions(model, view, request.packing).log_probabilities({at, at + 1});
  const std::span<const float> row = predicted.values<float>();
  const std::vector<double> sampled = sampled_probabilities(row, request.sampler);
  NextTokens next{.position = at, .entropy = entropy_of(row)};
  for (const PredictedToken& token : likeliest(row, request.count))
    next.top.push_back({token, sampled[static_cast<size_t>(token.id)]});
  return next;
}

}  // namespace sluice
