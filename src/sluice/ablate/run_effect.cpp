#include "sluice/ablate/run_effect.h"

#include <cmath>
#include <limits>

#include "sluice/analysis/permutation_test.h"
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
          .finite = false};
}

template <class Figure>
Estimate mean_change(const EffectInput& input, Figure figure) {
  std::vector<double> changes;
  for (size_t i = 0; i < input.broken.size(); ++i)
    changes.push_back(figure(input.broken[i]) - figure(input.base[i]));
  return mean_of_samples(changes);
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
  effect.verdict = verdict_of(sequence, rule);
  if (const std::optional<double> width = sequence.half_width(rule.error_of_one()))
    effect.sequence = Interval{sequence.mean() - *width, sequence.mean() + *width};
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
  effect.sink = mean_change(input, [](const RunMeasures& chunk) { return chunk.sink; });
  effect.activation = mean_change(input, [](const RunMeasures& chunk) { return chunk.largest_activation; });
  add_totals(effect, input.broken);
  add_sequence(effect, rule);
  return effect;
}

void correct_for_many(AblationResult& result) {
  std::vector<double> p;
  std::vector<RunEffect*> effects;
  for (AblatedModel& model : result.models)
    for (AblatedText& text : model.texts)
      for (RunEffect& effect : text.effects) {
        p.push_back(effect.p);
        effects.push_back(&effect);
      }
  const std::vector<double> corrected = holm(p);
  for (size_t i = 0; i < p.size(); ++i) {
    RunEffect& effect = *effects[i];
    effect.corrected_p = corrected[i];
    if (effect.verdict == RunVerdict::Undecided && corrected[i] < result.rule.error)
      effect.verdict = effect.nll.value > 0 ? RunVerdict::Worse : RunVerdict::Better;
  }
}

}  // namespace sluice
