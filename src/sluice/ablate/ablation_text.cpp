// An ablation's result for a terminal: a line per run, those about layers and heads in the order of the
// damage.
#include <fmt/format.h>

#include <algorithm>

#include "sluice/ablate/ablation_analysis.h"

namespace sluice {
namespace {

constexpr size_t kMostLines = 12;  // of a group

std::string effect_line(const PlannedRun& run, const RunEffect& effect) {
  if (!effect.finite)
    return fmt::format("    {:<34} worse: the likelihood is not finite ({} chunks)\n", run.name,
                       effect.chunks);
  const std::string interval =
      effect.nll.ci95 ? fmt::format("[{:+.4f}, {:+.4f}]", effect.nll.ci95->low, effect.nll.ci95->high) : "";
  return fmt::format("    {:<34} {:+.4f} {:<20} nats, x {:<9.4g} top-1 {:5.1f} %  {:>3} chunks  {}\n",
                     run.name, effect.nll.value, interval, effect.ppl_ratio.value, 100 * effect.changed_top1,
                     effect.chunks,
                     effect.reason.empty() ? std::string(name_of(effect.verdict))
                                           : fmt::format("{}: {}", name_of(effect.verdict), effect.reason));
}

std::string group_text(const AblatedModel& model, const AblatedText& text, const std::string& group) {
  std::vector<size_t> runs;
  for (size_t i = 0; i < text.effects.size(); ++i)
    if (model.plan.runs[i].group == group) runs.push_back(i);
  const bool places =
      std::ranges::all_of(runs, [&](size_t i) { return model.plan.runs[i].layer.has_value(); });
  if (places) {
    std::ranges::stable_sort(runs, [&](size_t a, size_t b) {
      const RunEffect &first = text.effects[a], &second = text.effects[b];
      return first.finite != second.finite ? !first.finite : first.nll.value > second.nll.value;
    });
  }
  std::string lines = fmt::format("  {}\n", group);
  for (size_t i = 0; i < runs.size() && i < kMostLines; ++i)
    lines += effect_line(model.plan.runs[runs[i]], text.effects[runs[i]]);
  if (runs.size() > kMostLines) lines += fmt::format("    and {} more\n", runs.size() - kMostLines);
  return lines;
}

std::vector<std::string> groups_of(const AblationPlan& plan) {
  std::vector<std::string> groups;
  for (const PlannedRun& run : plan.runs)
    if (std::ranges::find(groups, run.group) == groups.end()) groups.push_back(run.group);
  return groups;
}

}  // namespace

std::string to_text(const AblationResult& result) {
  std::string text;
  for (const AblatedModel& model : result.models) {
    if (model.estimates) text += fmt::format("{}: estimates\n", model.name) + to_text(*model.estimates);
    for (const AblatedText& ablated : model.texts) {
      if (ablated.effects.empty()) continue;
      text += fmt::format("{} on {}: perplexity {:.4g} unbroken, {} chunks of {}\n", model.name, ablated.name,
                          ablated.base.ppl, ablated.base_by_chunk.size(), ablated.chunks);
      for (const std::string& group : groups_of(model.plan)) text += group_text(model, ablated, group);
    }
  }
  return text;
}

}  // namespace sluice
