#include "sluice/report/nursery_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/plot/training_curves.h"
#include "sluice/report/nursery_findings.h"
#include "sluice/report/validations_table.h"

namespace sluice {
namespace {

constexpr int kNurserySeed = 1;  // of both runs, as configs/runs has it

ReportFigure nursery_curves(const NurseryResult& result) {
  std::vector<LabelledRuns> runs;
  for (const NurseryModel& model : result.models)
    runs.push_back({.label = short_name(model.variant), .runs = {model.metrics}});
  return {.stem = "nursery-curves",
          .figure = training_figure(training_curves(runs, Progression::Tokens)),
          .caption = "How the sink grew. One run of each model.",
          .table = "nursery-validations"};
}

Table nursery_validations(const NurseryResult& result) {
  std::vector<SeededRun> runs;
  for (const NurseryModel& model : result.models)
    runs.push_back({.label = short_name(model.variant), .seed = kNurserySeed, .metrics = model.metrics});
  Table table = validations_table(runs);
  table.name = "nursery-validations";
  return table;
}

void add_findings(Section& section, std::vector<Finding> findings) {
  for (Finding& finding : findings) section.blocks.push_back(std::move(finding));
}

Section seeds_section(std::span<const NurserySeed> seeds) {
  Section section{.title = "The same with other seeds", .anchor = "nursery-seeds"};
  section.blocks = {nursery_seed_means(seeds), nursery_seed_differences(seeds)};
  add_findings(section, seed_findings(seeds));
  section.blocks.push_back(Note{nursery_seed_note(seeds)});
  section.blocks.push_back(nursery_runs(seeds));
  return section;
}

}  // namespace

std::string nursery_introduction(const NurseryResult& result) {
  const RunState& state = result.models.front().outcome.state;
  return fmt::format(
      "A text in which a head has work only here and there: letters follow each other by a random table, but "
      "after one "
      "of {} trigger letters the letter before the trigger comes once more. To copy it takes a head; "
      "everywhere else the "
      "head has nothing to look for, and softmax makes it look somewhere. Two models of the same size learn "
      "this text for "
      "{} steps of {} tokens: a baseline, and one with a gate per head that can close instead.",
      BackcopyChain::kTriggers, integer_text(state.step),
      integer_text(state.tokens / std::max<int64_t>(1, state.step)));
}

std::vector<std::string> nursery_notes(const NurseryResult& result) {
  const Look& look = result.studied(0).look;
  const BackcopyScore& score = result.models.front().score;
  return {fmt::format("n: sink, activation and gates on {} held-out sequences of {} tokens that begin with "
                      "the start symbol, "
                      "with 95 % intervals over sequences; copying on {} letters after triggers and excess "
                      "on {} others of "
                      "{} further documents; validation loss on {} sequences. One run of each model.",
                      look.sequences, look.length, integer_text(score.copies), integer_text(score.others),
                      score.documents, result.models.front().outcome.validation->sequences),
          "copied: share of the letters after triggers that the model finds likeliest. excess: loss of the "
          "other letters "
          "above the chain's own entropy. sink: mean attention on the first token, beside what uniform "
          "attention gives "
          "(floor). top head: sink of the head that has most. max act: largest |block output| of a sequence, "
          "mean over "
          "layers and sequences."};
}

std::string nursery_seed_note(std::span<const NurserySeed> seeds) {
  const auto unsolved =
      std::ranges::count_if(seeds, [](const NurserySeed& seed) { return !solves(seed.copy_accuracy); });
  return fmt::format(
      "Trained beforehand for 1,500 steps on the same text, and stored with the program "
      "(docs/results/nursery.csv): {} runs, "
      "of which {} {} not solve the task and {} left out. Each verdict stands for itself: of twenty "
      "differences that are "
      "none, one is expected to look like one. This is about models of this size on this text.",
      seeds.size(), unsolved, unsolved == 1 ? "does" : "do", unsolved == 1 ? "is" : "are");
}

std::vector<std::string> nursery_next_commands(const NurseryResult& result) {
  const std::string out = result.out.string();
  return {
      fmt::format(
          "sluice attention {0}/nursery-baseline {0}/nursery-headwise --held-out --heads --out {0}/attention",
          out),
      fmt::format("sluice gates {0}/nursery-headwise --held-out --out {0}/gates", out),
      fmt::format("sluice eval {}/nursery-headwise --task backcopy --seed {} --intervene \"attn.gate set=1\"",
                  out, result.chain_seed)};
}

Section nursery_section(const NurseryResult& result, std::span<const NurserySeed> seeds) {
  Section section{.title = "A nursery where a sink grows", .anchor = "nursery"};
  section.blocks = {Paragraph{nursery_introduction(result)}, nursery_answer(result), nursery_models(result)};
  add_findings(section, pair_findings(result));
  section.blocks.insert(section.blocks.end(),
                        {nursery_sink_figure(result), nursery_heads(result), nursery_map_figure(result),
                         nursery_curves(result), nursery_validations(result)});
  for (std::string& note : nursery_notes(result)) section.blocks.push_back(Note{std::move(note)});
  if (!seeds.empty()) section.subsections.push_back(seeds_section(seeds));
  return section;
}

}  // namespace sluice
