#include "sluice/ablate/run_effect.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

constexpr double kUnmeasured = std::numeric_limits<double>::quiet_NaN();

RunEffect effect_beyond_numbers(int64_t chunks) {
  const Estimate none{.value = kUnmeasured};
  return {.chunks = chunks,
          .nll = none,
          .ppl = kUnmeasured,
          .ppl_ratio = none,
          .kl = kUnmeasured,
          .changed_top1 = kUnmeasured,
          .sink = none,
          .activation = none,
          .p = kUnmeasured,
          .corrected_p = kUnmeasured,
          .verdict = RunVerdict::Worse,
          .reason = "the likelihood is not finite",
          .finite = false};
}

std::vector<double> changes_of(const EffectInput& input, double RunMeasures::*figure) {
  std::vector<double> changes;
  for (size_t i = 0; i < input.broken.size(); ++i)
    changes.push_back(input.broken[i].*figure - input.base[i].*figure);
  return changes;
}

// Perplexities differ by a factor where likelihoods differ by a sum.
Estimate ratio_of(const Estimate& nll) {
  Estimate ratio{.value = std::exp(nll.value)};
  if (nll.ci95) ratio.ci95 = Interval{std::exp(nll.ci95->low), std::exp(nll.ci95->high)};
  return ratio;
}

void add_totals(RunEffect& effect, std::span<const RunMeasures> chunks) {
  double nll = 0, kl = 0;
  int64_t changed = 0;
  for (const RunMeasures& chunk : chunks) {
    nll += chunk.nll.sum;
    kl += chunk.kl;
    changed += chunk.changed_top1;
    effect.tokens += chunk.nll.tokens;
  }
  const auto tokens = static_cast<double>(effect.tokens);
  effect.ppl = std::exp(nll / tokens);
  effect.kl = kl / tokens;
  effect.changed_top1 = static_cast<double>(changed) / tokens;
}

void add_sequence(RunEffect& effect, const StoppingRule& rule) {
  ConfidenceSequence sequence;
  for (const double change : effect.by_chunk) sequence.add(change);
  effect.p = sequence.p_of_zero();
  // The same share of the error that the interval has, so p < error says what the interval says.
  effect.corrected_p = std::min(1.0, effect.p * static_cast<double>(rule.comparisons));
  effect.verdict = verdict_of(sequence, rule);
  effect.reason = open_because(sequence, rule);
  effect.sequence = simultaneous_interval(sequence, rule);
}

}  // namespace

RunEffect effect_of(const EffectInput& input, const StoppingRule& rule) {
  SLUICE_ASSERT(!input.broken.empty() && input.broken.size() <= input.base.size(),
                "effect: {} chunks beside {} of the unbroken model", input.broken.size(), input.base.size());
  if (!is_finite(input.broken.back())) return effect_beyond_numbers(std::ssize(input.broken));
  RunEffect effect{.chunks = std::ssize(input.broken)};
  for (size_t i = 0; i < input.broken.size(); ++i)
    effect.by_chunk.push_back(effect_on(input.broken[i], input.base[i]));
  effect.nll = mean_of_samples(effect.by_chunk);
  effect.ppl_ratio = ratio_of(effect.nll);
  const std::vector<double> sinks = changes_of(input, &RunMeasures::sink);
  effect.sink = mean_of_samples(sinks);
  effect.sink_sequence = simultaneous_interval(sinks, rule);
  effect.activation = mean_of_samples(changes_of(input, &RunMeasures::largest_activation));
  add_totals(effect, input.broken);
  add_sequence(effect, rule);
  return effect;
}

}  // namespace sluice
