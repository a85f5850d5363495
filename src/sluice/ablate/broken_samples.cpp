#include "sluice/ablate/broken_samples.h"

#include <algorithm>
#include <limits>

#include "sluice/base/error.h"
#include "sluice/probe/generate_text.h"

namespace sluice {
namespace {

constexpr size_t kPromptTokens = 16, kWorstRuns = 3;

double damage_of(const RunEffect& effect) {
  return effect.finite ? effect.nll.value : std::numeric_limits<double>::infinity();
}

std::vector<size_t> runs_that_matter(const AblatedModel& result) {
  std::vector<size_t> runs, others;
  for (size_t i = 0; i < result.plan.runs.size(); ++i) {
    const PlannedRun& run = result.plan.runs[i];
    if (run.group == "global") runs.push_back(i);
    if (run.layer && run.control_of.empty()) others.push_back(i);
  }
  const std::vector<RunEffect>& effects = result.texts.front().effects;
  std::ranges::stable_sort(others, std::ranges::greater{}, [&](size_t i) { return damage_of(effects[i]); });
  others.resize(std::min(others.size(), kWorstRuns));
  runs.insert(runs.end(), others.begin(), others.end());
  return runs;
}

}  // namespace

void add_broken_samples(AblatedModel& result, const LoadedModel& model, const SampleRequest& request,
                        const JobControl& control) {
  std::vector<TokenId> prompt = request.prompt ? model.encode(*request.prompt) : request.beginning;
  if (!request.prompt) prompt.resize(std::min(prompt.size(), kPromptTokens));
  result.prompt = model.decode(prompt);
  const JobControl quiet{.cancelled = control.cancelled, .log = control.log};
  const auto sampled = [&](const std::string& run, std::vector<Intervention> interventions) {
    give_calibration(interventions, request.calibration);
    const GeneratedText text =
        generate_text(model,
                      {.prompt = prompt,
                       .options = {.max_tokens = request.tokens, .interventions = std::move(interventions)}},
                      quiet);
    const bool ended = text.stopped_by && !text.ids.empty() && text.ids.back() == *text.stopped_by;
    result.samples.push_back(
        {.run = run, .text = text.text.value_or(""), .tokens = std::ssize(text.ids) - (ended ? 1 : 0)});
  };
  sampled("", {});
  for (const size_t i : runs_that_matter(result)) {
    const PlannedRun& run = result.plan.runs[i];
    if (!result.texts.front().effects[i].finite) continue;
    try {
      sampled(run.name, parse_interventions(run.interventions, model.config()));
    } catch (const Error& error) {
      // A run may fit the chunks and not a sample: other sequences' gates are as long as a chunk, positions
      // may lie behind its end. What was measured stands all the same.
      if (error.kind() != ErrorKind::Usage) throw;
      control.info("{}: no sample of \"{}\": {}", model.path().string(), run.name, error.what());
    }
  }
}

}  // namespace sluice
