#include "sluice/report/nursery_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/plot/training_curves.h"
#include "sluice/report/nursery_findings.h"
#include "sluice/report/validations_table.h"

namespace sluice {
namespace {

ReportFigure nursery_curves(const NurseryResult& result) {
  std::vector<LabelledRuns> runs;
  for (const NurseryModel& model : result.models)
    runs.push_back({.label = short_name(model.variant), .runs = {model.metrics}});
  return {.stem = fmt::format("{}-curves", result.pair.stem),
          .figure = training_figure(training_curves(runs, Progression::Tokens)),
          .caption = "How the sink grew. One run of each model.",
          .table = fmt::format("{}-validations", result.pair.stem)};
}

Table nursery_validations(const NurseryResult& result) {
  std::vector<SeededRun> runs;
  for (const NurseryModel& model : result.models)
    runs.push_back({.label = short_name(model.variant), .seed = model.seed, .metrics = model.metrics});
  Table table = validations_table(runs);
  table.name = fmt::format("{}-validations", result.pair.stem);
  return table;
}

void add_findings(Section& section, std::vector<Finding> findings) {
  for (Finding& finding : findings) section.blocks.push_back(std::move(finding));
}

Section seeds_section(const NurseryPair& pair, const ExperimentResult& seeds) {
  Section section{.title = "The same with other seeds", .anchor = fmt::format("{}-seeds", pair.stem)};
  section.blocks = {nursery_seed_means(pair, seeds), nursery_seed_differences(pair, seeds)};
  add_findings(section, seed_findings(pair, seeds));
  section.blocks.push_back(Note{nursery_seed_note(pair, seeds)});
  section.blocks.push_back(nursery_runs(pair, seeds));
  return section;
}

// "1 layer of 1 head", "3 layers of 2 heads"
std::string size_words(const Look& look) {
  return fmt::format("{} of {}", counted_text(std::ssize(look.attention), "layer"),
                     counted_text(std::ssize(look.attention.front().by_head), "head"));
}

// The only head of a model is in the table of models.
bool has_heads_to_tell_apart(const NurseryResult& result) {
  const std::vector<AttentionLayer>& layers = result.studied(0).look.attention;
  return layers.size() > 1 || layers.front().by_head.size() > 1;
}

// "0.868 (seed 11), 0.860 (seed 12)"
std::string sinks_by_seed(const ExperimentResult& runs, const std::string& variant) {
  std::string text;
  for (const MeasuredTraining* run : counted_runs(runs, *find_variant(runs.variants, variant)))
    text += fmt::format("{}{:.3f} (seed {})", text.empty() ? "" : ", ", run->sink, run->seed);
  return text;
}

}  // namespace

std::string nursery_longer(const NurseryResult& result) {
  if (result.pair.longer == nullptr) return "";
  const ExperimentResult longer = stored_result(result.pair.longer);
  const std::string baseline = longer.variants.front().point.name();
  const DifferenceAtLook loss = planned_difference(
      longer, *find_variant(longer.variants, result.pair.stored_variant), &MeasuredTraining::validation_loss);
  return fmt::format(
      "This is not the end of it. Trained beforehand for {} steps, the sinks of such models are {} without a "
      "gate and {} with one, the loss with a gate {:+.4f} on average ({} pairs, docs/results/{}.md). So what "
      "a gate does to this sink depends on the seed and on how long one waits.",
      integer_text(longer.steps), sinks_by_seed(longer, baseline),
      sinks_by_seed(longer, result.pair.stored_variant), loss.difference->mean, loss.difference->count,
      result.pair.longer);
}

std::string nursery_introduction(const NurseryResult& result) {
  const RunState& state = result.models.front().outcome.state;
  return fmt::format(
      "A text in which a head has work only here and there: letters follow each other by a random table, but "
      "after one of {} trigger letters the letter before the trigger comes once more. To copy it takes a "
      "head; everywhere else the head has nothing to look for, and softmax makes it look somewhere. Two "
      "models of {} learn this text for {} steps of {} tokens: a baseline, and one with a gate per head that "
      "can close instead.",
      BackcopyChain::kTriggers, size_words(result.studied(0).look), integer_text(state.step),
      integer_text(state.tokens / std::max<int64_t>(1, state.step)));
}

std::vector<std::string> nursery_notes(const NurseryResult& result) {
  const Look& look = result.studied(0).look;
  const BackcopyScore& score = result.models.front().score;
  return {
      fmt::format(
          "n: sink, activation and gates on {} held-out sequences of {} tokens that begin with the "
          "start symbol, with 95 % intervals over sequences; copying on {} letters after triggers and "
          "excess on {} others of {} further documents; validation loss on {} sequences. One run of "
          "each model, with seed {}.",
          look.sequences, look.length, integer_text(score.copies), integer_text(score.others),
          score.documents, result.models.front().outcome.validation->sequences, result.models.front().seed),
      "copied: share of the letters after triggers that the model finds likeliest. excess: loss of the other "
      "letters above the chain's own entropy. sink: mean attention on the first token, beside what uniform "
      "attention gives (floor). top head: sink of the head that has most. max act: largest |block output| of "
      "a sequence, mean over layers and sequences."};
}

std::string nursery_seed_note(const NurseryPair& pair, const ExperimentResult& seeds) {
  const auto unsolved = std::ranges::count_if(
      seeds.runs, [&](const MeasuredTraining& run) { return !run_counts(seeds.experiment, run); });
  return fmt::format(
      "Trained beforehand for 1,500 steps on the same text, the seed above among them, and stored with the "
      "program (docs/results/{}.md says what the variants are): {} runs, of which {} {} not solve the task "
      "and {} left out. Each verdict "
      "stands for itself: if a true difference is zero, it is called one at most once in twenty times. This "
      "is about models of this size on this text.",
      pair.stored, seeds.runs.size(), unsolved, unsolved == 1 ? "does" : "do", unsolved == 1 ? "is" : "are");
}

std::vector<std::string> nursery_next_commands(const NurseryResult& result) {
  const std::string plain = (result.out / result.pair.baseline()).string(),
                    gated = (result.out / result.pair.gated()).string();
  return {fmt::format("sluice attention {} {} --held-out --heads --out {}", plain, gated,
                      (result.out / "attention").string()),
          fmt::format("sluice gates {} --held-out --out {}", gated, (result.out / "gates").string()),
          fmt::format("sluice eval {} --task backcopy --seed {} --intervene \"attn.gate set=1\"", gated,
                      result.text.chain_seed)};
}

Section nursery_section(const NurseryResult& result) {
  Section section{.title = result.pair.title, .anchor = result.pair.stem};
  section.blocks = {Paragraph{nursery_introduction(result)}, nursery_answer(result)};
  if (std::string longer = nursery_longer(result); !longer.empty())
    section.blocks.push_back(Paragraph{std::move(longer)});
  section.blocks.push_back(nursery_models(result));
  add_findings(section, pair_findings(result));
  if (has_heads_to_tell_apart(result))
    section.blocks.insert(section.blocks.end(), {nursery_sink_figure(result), nursery_heads(result)});
  section.blocks.insert(section.blocks.end(),
                        {nursery_map_figure(result), nursery_curves(result), nursery_validations(result)});
  for (std::string& note : nursery_notes(result)) section.blocks.push_back(Note{std::move(note)});
  if (!result.seeds.runs.empty()) section.subsections.push_back(seeds_section(result.pair, result.seeds));
  return section;
}

}  // namespace sluice
