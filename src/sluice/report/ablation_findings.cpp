#include "sluice/report/ablation_findings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr const char* kNll = "the negative log-likelihood per token";
constexpr double kSinkMargin = 0.01;  // of a probability: a change of the sink up to this does not matter

std::string place_words(const PlaceEffect& place) {
  return place.head ? fmt::format("layer {} head {}", place.layer, *place.head)
                    : fmt::format("layer {}", place.layer);
}

std::string broken_words(const AblatedModel& model, const AblatedText& text, const std::string& run) {
  return fmt::format("{} with \"{}\" on {}", model.name, run, text.name);
}

std::string simultaneous_words(const StoppingRule& rule) {
  return fmt::format("The interval holds for all {} comparisons together, at every time of stopping.",
                     rule.comparisons);
}

struct VerdictCounts {
  int64_t worse = 0, better = 0, equivalent = 0, undecided = 0;

  std::string words() const {
    return fmt::format("{} worse, {} better, {} equivalent, {} undecided", worse, better, equivalent,
                       undecided);
  }
};

VerdictCounts count_verdicts(const AblatedModel& model, const AblatedText& text, std::string_view group,
                             std::string_view action) {
  VerdictCounts counts;
  for (size_t i = 0; i < text.effects.size(); ++i) {
    if (model.plan.runs[i].group != group || model.plan.runs[i].action != action) continue;
    switch (text.effects[i].verdict) {
      case RunVerdict::Worse:
        ++counts.worse;
        break;
      case RunVerdict::Better:
        ++counts.better;
        break;
      case RunVerdict::Equivalent:
        ++counts.equivalent;
        break;
      case RunVerdict::Undecided:
        ++counts.undecided;
    }
  }
  return counts;
}

// "10 worse, 0 better ..."; of a shuffle it says that these are draws, of which a layer has several.
std::string verdict_words(const AblatedModel& model, const AblatedText& text, std::string_view group,
                          const EffectProfile& profile) {
  const VerdictCounts counts = count_verdicts(model, text, group, profile.action);
  const int64_t draws = profile.is_empty() ? 1 : profile.places.front().draws;
  if (draws == 1) return counts.words();
  return fmt::format("of {} draws, {} of each, {}", std::ssize(profile.places) * draws, draws,
                     counts.words());
}

std::string common_words(const EffectProfile& profile) {
  return fmt::format("on the {} chunks that all of them have", profile.chunks);
}

// The worst places, on the chunks that all of them have.
std::string worst_words(const EffectProfile& profile, size_t count) {
  std::vector<std::string> words;
  for (const PlaceEffect& place : ranked(profile)) {
    if (words.size() == count) break;
    words.push_back(std::isfinite(place.nll) ? fmt::format("{} ({:+.3g} nats)", place_words(place), place.nll)
                                             : fmt::format("{} (beyond all numbers)", place_words(place)));
  }
  return fmt::format("{}, {}", fmt::join(words, ", "), common_words(profile));
}

}  // namespace

Finding run_finding(const AblatedModel& model, const AblatedText& text, size_t run,
                    const AblationResult& result) {
  const RunEffect& effect = text.effects[run];
  const std::string subject = broken_words(model, text, model.plan.runs[run].name);
  if (!effect.finite)
    return {.verdict = Verdict::Higher,
            .text = fmt::format("Worse beyond all numbers: the likelihood of {} is not finite.", subject)};
  const Difference difference{
      .what = kNll,
      .subject = subject,
      .against = "the unbroken model",
      .value = effect.nll.value,
      .interval = effect.sequence,
      .n = effect.chunks,
      .counted = "chunks",
      .margin = result.rule.margin,
      .limits = fmt::format("Perplexity x {:.4g}; {:.1f} % of the likeliest tokens are others. {}",
                            effect.ppl_ratio.value, 100 * effect.changed_top1,
                            effect.sequence ? simultaneous_words(result.rule)
                                            : fmt::format("Undecided, for {}.", effect.reason))};
  return finding_of(difference);
}

std::vector<Finding> global_findings(const AblatedModel& model, const AblationResult& result) {
  std::vector<Finding> findings;
  for (const AblatedText& text : model.texts)
    for (size_t i = 0; i < text.effects.size(); ++i)
      if (model.plan.runs[i].group == "global") findings.push_back(run_finding(model, text, i, result));
  return findings;
}

std::vector<Finding> sink_findings(const AblatedModel& model, const AblationResult& result) {
  std::vector<Finding> findings;
  for (const AblatedText& text : model.texts) {
    for (size_t i = 0; i < text.effects.size(); ++i) {
      const PlannedRun& run = model.plan.runs[i];
      const RunEffect& effect = text.effects[i];
      if (!asks_about_the_sink(run) || !effect.finite) continue;
      findings.push_back(finding_of(
          {.what = "attention on the first token",
           .subject = broken_words(model, text, run.name),
           .against = fmt::format("the unbroken model ({})", number_text(text.base_sink)),
           .value = effect.sink.value,
           .interval = effect.sink_sequence,
           .n = effect.chunks,
           .counted = "chunks",
           .margin = kSinkMargin,
           .limits = simultaneous_words(result.rule) +
                     fmt::format(" The margin is {} of this probability, whatever --margin says in nats.",
                                 kSinkMargin) +
                     " What a gate that is open from the beginning would have grown is another question."}));
    }
  }
  return findings;
}

namespace {

struct PairCounts {
  int64_t all = 0, more = 0, less = 0, equivalent = 0;

  void add(RunVerdict verdict) {
    ++all;
    more += verdict == RunVerdict::Worse ? 1 : 0;
    less += verdict == RunVerdict::Better ? 1 : 0;
    equivalent += verdict == RunVerdict::Equivalent ? 1 : 0;
  }

  std::string words() const {
    return fmt::format("more damage in {} of {}, less in {}, equivalent in {}, undecided in {}", more, all,
                       less, equivalent, all - more - less - equivalent);
  }
};

// The pairs of one text, of one group and action: by kind of control, in the order in which they come.
struct CountedControls {
  std::string title;  // "Layers closed on wiki.txt"
  PairCounts all = {};
  std::vector<std::pair<std::string, PairCounts>> kinds = {};

  PairCounts& of(const std::string& kind) {
    for (auto& [name, counts] : kinds)
      if (name == kind) return counts;
    return kinds.emplace_back(kind, PairCounts{}).second;
  }
};

std::vector<CountedControls> counted_controls(const AblatedModel& model, const AblatedText& text,
                                              const StoppingRule& rule) {
  std::vector<CountedControls> counted;
  for (const ControlPair& pair : control_pairs(model, text, rule)) {
    const PlannedRun& run = model.plan.runs[pair.run];
    const std::string title = fmt::format("{} {} on {}",
                                          run.head    ? "Heads"
                                          : run.layer ? "Layers"
                                                      : "Runs",
                                          run.action, text.name);
    auto found = std::ranges::find(counted, title, &CountedControls::title);
    if (found == counted.end()) found = counted.insert(counted.end(), CountedControls{.title = title});
    found->all.add(pair.verdict);
    found->of(kind_of_control(model.plan.runs[pair.control])).add(pair.verdict);
  }
  return counted;
}

}  // namespace

std::vector<ReportBlock> control_words(const AblatedModel& model, const AblationResult& result) {
  BulletList items;
  for (const AblatedText& text : model.texts) {
    for (const CountedControls& counted : counted_controls(model, text, result.rule)) {
      std::vector<std::string> kinds;
      for (const auto& [kind, counts] : counted.kinds)
        kinds.push_back(fmt::format("{}: {} of {}", kind, counts.more, counts.all));
      items.items.push_back(fmt::format("{}: {}. More damage than, by kind: {}.", counted.title,
                                        counted.all.words(), fmt::join(kinds, ", ")));
    }
  }
  if (items.items.empty()) return {};
  return {Paragraph{fmt::format(
              "Each run beside each of its controls, on the chunks that both have. The intervals that decide "
              "hold for all {} comparisons together, at every time of stopping; equivalent is within {:.3g} "
              "nats.",
              result.rule.comparisons, result.rule.margin)},
          std::move(items)};
}

std::optional<Paragraph> constants_words(const AblatedModel& model) {
  std::string words;
  for (const AblatedText& text : model.texts) {
    const RunEffect* best = nullptr;
    std::string action;
    for (size_t i = 0; i < text.effects.size(); ++i) {
      const RunEffect& effect = text.effects[i];
      if (model.plan.runs[i].group != "constants" || !effect.finite) continue;
      if (best != nullptr && best->nll.value <= effect.nll.value) continue;
      best = &effect;
      action = model.plan.runs[i].action;
    }
    if (best == nullptr) continue;
    words += fmt::format(
        "On {} the best constant is {}: perplexity x {} of the unbroken model's {:.4g}. ", text.name, action,
        best->ppl_ratio.ci95 ? number_text(Estimate{best->ppl_ratio.value, *best->ppl_ratio.ci95})
                             : number_text(best->ppl_ratio.value),
        text.base.ppl);
  }
  if (words.empty()) return {};
  return Paragraph{words + "What is left between that and 1 is what the pattern is worth beyond the level."};
}

Paragraph layer_words(const AblatedModel& model, const std::string& action, const AblationResult& result) {
  std::string words;
  for (const AblatedText& text : model.texts) {
    const EffectProfile profile = effect_profile(model, text, "layers", action);
    words += fmt::format("Layers {} on {}: {}. Most damage: {}. ", action, text.name,
                         verdict_words(model, text, "layers", profile), worst_words(profile, 3));
    const std::vector<PlaceEffect> order = ranked(profile);
    if (!order.empty() && std::isfinite(order.front().ppl_share))
      words += fmt::format("{} has {:.1f} % of the damage in perplexity of all layers ({:.1f} % in nats). ",
                           place_words(order.front()), 100 * order.front().ppl_share,
                           100 * order.front().nll_share);
  }
  return {words + fmt::format("Equivalent is within {:.3g} nats.", result.rule.margin)};
}

Paragraph head_words(const AblatedModel& model, const std::string& action, const AblationResult& result) {
  std::string words;
  for (const AblatedText& text : model.texts) {
    const EffectProfile profile = effect_profile(model, text, "heads", action);
    words += fmt::format("Heads {} on {}: {}. Most damage: {}. ", action, text.name,
                         verdict_words(model, text, "heads", profile), worst_words(profile, 5));
  }
  return {words +
          fmt::format("That a head does no harm when it is {} on this text within {:.3g} nats does not say "
                      "that it can be removed.",
                      action, result.rule.margin)};
}

Paragraph sensitivity_words(const LayerSensitivity& layers) {
  const auto described = [](const Association& found) {
    return fmt::format(
        "rank correlation {:+.3f} (permutation p = {:.3g}, n = {} layers), R squared of a line {:.3f}",
        found.rank_correlation, found.p, found.count, found.r_squared);
  };
  std::vector<int64_t> outliers;
  for (const size_t i : layers.statistics.outliers) outliers.push_back(layers.layers[i]);
  std::string words = fmt::format("How closed a layer's gates are, and what having it {} does on {}: {}. ",
                                  layers.action, layers.text, described(layers.statistics.all));
  if (outliers.empty()) return {words + "No layer stands out by Cook's distance."};
  words += fmt::format("By Cook's distance (above {:.3f}) the line hangs on layer {}. ",
                       layers.statistics.threshold, fmt::join(outliers, ", "));
  return {words + (layers.statistics.without.count < 3
                       ? std::string("Too few are left without it.")
                       : fmt::format("Without: {}.", described(layers.statistics.without)))};
}

namespace {

// What shares of a joint change are, and how well they add up to it.
std::string joint_words(const EstimateComparison& comparison) {
  std::string words =
      fmt::format(". They are shares of changing all gates together, {:+.3g} nats by estimate in {} steps",
                  comparison.all_estimated, comparison.steps);
  if (comparison.all_exact)
    words += fmt::format(" and {:+.3g} as measured on the same chunks", *comparison.all_exact);
  words += "; changing one alone has another size, so what counts is their order.";
  if (const std::optional<double> missing = comparison.missing_share(); missing && *missing > kMostMissing)
    words += fmt::format(
        " The sum misses what was measured by {:.0f} %: {} steps are too few, --steps {} or "
        "more may do.",
        100 * *missing, comparison.steps, 4 * comparison.steps);
  return words;
}

}  // namespace

std::vector<Paragraph> estimate_words(const AblatedModel& model) {
  std::vector<Paragraph> words;
  for (const EstimateComparison& comparison : compare_estimates(model)) {
    const std::optional<double> r = comparison.agreement.rank_correlation;
    const bool integrated = comparison.method == EstimateMethod::Integrated;
    std::string text = fmt::format(
        "{} {} at {}, {}: rank correlation with what was measured {} over {} on {} chunks",
        comparison.of_heads ? "Heads" : "Layers", comparison.action, comparison.tap,
        integrated ? "integrated gradients" : "first order", r ? fmt::format("{:+.3f}", *r) : "not known",
        comparison.agreement.count, comparison.chunks);
    text += integrated
                ? joint_words(comparison)
                : fmt::format("; mean error {:.3g} nats per token.", comparison.agreement.mean_error.value());
    words.push_back({std::move(text)});
  }
  return words;
}

std::vector<Paragraph> share_words(const AblationResult& result) {
  std::vector<Paragraph> words;
  std::vector<std::string> compared, others;
  for (const AblatedModel& model : result.models) {
    const std::vector<std::string> actions = actions_of(model.plan, "layers");
    const bool has_it = std::ranges::find(actions, removal_of(model)) != actions.end();
    (has_it ? compared : others).push_back(model.name);
    for (const AblatedText& text : model.texts) {
      const EffectProfile profile = effect_profile(model, text, "layers", removal_of(model));
      const std::vector<PlaceEffect> order = ranked(profile);
      if (order.empty() || !std::isfinite(order.front().ppl_share)) continue;
      words.push_back({fmt::format(
          "{} ({}) on {}: layer {} carries {:.1f} % of the damage in perplexity, {:.1f} % in nats, {} "
          "(unbroken {:.4g}).",
          model.name, profile.action, text.name, order.front().layer, 100 * order.front().ppl_share,
          100 * order.front().nll_share, common_words(profile), text.base.ppl)});
    }
  }
  const std::string what =
      "Layers are compared by what both kinds of models have: gates closed, and, without a gate, attention's "
      "output zeroed.";
  if (compared.size() >= 2 && others.empty()) {
    words.insert(words.begin(), {what});
  } else {
    words.insert(
        words.begin(),
        {fmt::format("{} That was not run on {}, so {}: --plan layers --actions closed runs it on all.", what,
                     fmt::join(others, ", "),
                     compared.size() < 2 ? "nothing stands beside each other here"
                                         : "only the others stand beside each other")});
  }
  return words;
}

}  // namespace sluice
