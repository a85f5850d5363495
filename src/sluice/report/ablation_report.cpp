#include "sluice/report/ablation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/report/ablation_figures.h"
#include "sluice/report/ablation_findings.h"
#include "sluice/report/ablation_tables.h"

namespace sluice {
namespace {

void add_figure(Section& section, std::optional<ReportFigure> figure) {
  if (figure) section.blocks.push_back(std::move(*figure));
}

template <class Blocks>
void add_blocks(Section& section, Blocks blocks) {
  for (auto& block : blocks) section.blocks.push_back(std::move(block));
}

Section whole_section(const AblatedModel& model, const AblationResult& result) {
  Section section{.title = model.name + ": all of it"};
  add_blocks(section, global_findings(model, result));
  add_figure(section, constants_figure(model));
  if (const auto words = constants_words(model)) section.blocks.push_back(*words);
  add_figure(section, parts_figure(model));
  add_figure(section, cumulative_figure(model));
  add_figure(section, signs_figure(model));
  add_blocks(section, sink_findings(model, result));
  return section;
}

Section layer_section(const AblatedModel& model, const AblationResult& result) {
  Section section{.title = model.name + ": one layer at a time"};
  for (const std::string& action : actions_of(model.plan, "layers")) {
    add_figure(section, layers_figure(model, action));
    section.blocks.push_back(layer_words(model, action, result));
  }
  section.blocks.push_back(ablated_places(model, "layers"));
  for (const std::string& action : actions_of(model.plan, "layers")) {
    std::vector<LayerSensitivity> texts;
    for (const AblatedText& text : model.texts)
      if (auto layers = layer_sensitivity(model, text, action);
          layers && !std::isnan(layers->statistics.all.p))
        texts.push_back(*std::move(layers));
    if (texts.empty()) continue;
    section.blocks.push_back(sensitivity_figure(model, texts));
    for (const LayerSensitivity& layers : texts) section.blocks.push_back(sensitivity_words(layers));
    section.blocks.push_back(sensitivity_table(texts, named_for(model, ("sensitivity_" + action).c_str())));
  }
  return section;
}

Section head_section(const AblatedModel& model, const AblationResult& result) {
  Section section{.title = model.name + ": one head at a time"};
  for (const std::string& action : actions_of(model.plan, "heads")) {
    add_figure(section, heads_figure(model, action));
    section.blocks.push_back(head_words(model, action, result));
  }
  section.blocks.push_back(ablated_places(model, "heads"));
  return section;
}

Section control_section(const AblatedModel& model, const AblationResult& result) {
  Section section{.title = model.name + ": controls"};
  for (const std::string& action : actions_of(model.plan, "layers"))
    add_figure(section, controls_figure(model, action));
  for (const std::string& action : actions_of(model.plan, "heads"))
    add_figure(section, head_controls_figure(model, action));
  add_blocks(section, control_words(model, result));
  section.blocks.push_back(control_table(model, result.rule));
  return section;
}

Section estimate_section(const AblatedModel& model) {
  Section section{.title = model.name + ": estimates from gradients"};
  section.blocks.push_back(
      Paragraph{fmt::format("Estimated on {} chunks with {} forward and backward passes each.",
                            model.estimates->chunks, model.estimates->passes)});
  add_figure(section, estimated_heads_figure(model));
  section.blocks.push_back(estimated_ranking_figure(model));
  add_figure(section, estimates_figure(model));
  add_blocks(section, estimate_words(model));
  section.blocks.push_back(estimates_table(model));
  return section;
}

std::string sample_words(const BrokenSample& sample) {
  if (!sample.text.empty()) return sample.text;
  return sample.tokens == 0 ? "(nothing: it ends the text at once)"
                            : fmt::format("({} tokens that stand for no text)", sample.tokens);
}

Section broken_samples_section(const AblatedModel& model) {
  Section section{.title = fmt::format("{}: what it writes", model.name)};
  section.blocks.push_back(Paragraph{fmt::format("The likeliest continuation of \"{}\".", model.prompt)});
  for (const BrokenSample& sample : model.samples)
    section.blocks.push_back(
        Preformatted{.text = sample_words(sample), .label = sample.run.empty() ? "unbroken" : sample.run});
  return section;
}

// What holds for several models is said once.
std::vector<std::string> warnings_of(const AblationResult& result) {
  std::vector<std::string> warnings;
  for (const AblatedModel& model : result.models)
    for (const AblatedText& text : model.texts)
      for (const std::string& warning : text.warnings)
        if (std::ranges::find(warnings, "Warning: " + warning) == warnings.end())
          warnings.push_back("Warning: " + warning);
  if (result.models.empty()) return warnings;
  const std::vector<AblatedText>& first = result.models.front().texts;
  for (const AblatedModel& model : result.models) {
    const bool same =
        std::ranges::equal(first, model.texts, {}, &AblatedText::checksum, &AblatedText::checksum);
    if (same) continue;
    warnings.push_back(fmt::format(
        "Warning: {} sees the texts as other tokens than {}: perplexities and nats per token of one "
        "cannot be compared with those of the other.",
        model.name, result.models.front().name));
  }
  return warnings;
}

bool has_group(const AblatedModel& model, std::string_view group) {
  return std::ranges::find(model.plan.runs, group, &PlannedRun::group) != model.plan.runs.end();
}

}  // namespace

std::vector<Section> ablation_sections(const AblatedModel& model, const AblationResult& result) {
  std::vector<Section> sections;
  if (Section whole = whole_section(model, result); !whole.blocks.empty())
    sections.push_back(std::move(whole));
  if (has_group(model, "layers")) sections.push_back(layer_section(model, result));
  if (has_group(model, "heads")) sections.push_back(head_section(model, result));
  if (has_group(model, "controls")) sections.push_back(control_section(model, result));
  if (model.estimates) sections.push_back(estimate_section(model));
  if (!model.samples.empty()) sections.push_back(broken_samples_section(model));
  if (!model.plan.runs.empty())
    sections.push_back({.title = model.name + ": every run", .blocks = {ablated_runs(model)}});
  return sections;
}

Section twins_section(const AblationResult& result) {
  Section section{.title = "Models beside each other", .anchor = "twins"};
  add_figure(section, shares_figure(result));
  add_blocks(section, share_words(result));
  section.blocks.push_back(shares_table(result));
  return section;
}

std::string ablation_words(const AblationResult& result) {
  int64_t made = 0, all = 0, runs = 0, equal = 0;
  for (const AblatedModel& model : result.models)
    for (const AblatedText& text : model.texts) {
      if (text.effects.empty()) continue;
      all += evaluations_there(model, text);
      made += evaluations_made(model, text);
      runs += std::ssize(text.effects);
      equal += equal_run_count(model);
    }
  if (all == 0) return "Nothing was run: effects are estimated.";
  std::string words = fmt::format("{} runs in all", integer_text(runs));
  if (equal > 0)
    words += fmt::format(", {} of them another one under a second name, not run again", integer_text(equal));
  if (result.coverage == Coverage::Exhaustive)
    words += fmt::format(". {} evaluations of a chunk: every run saw every chunk. ", integer_text(made));
  else
    words += fmt::format(
        ". {} evaluations of a chunk where {} would have been all of them ({:.1f} %): a run rests when its "
        "effect is known to {:.3g} of itself or {:.3g} nats per token, and its verdict is no longer open. ",
        integer_text(made), integer_text(all), 100 * static_cast<double>(made) / static_cast<double>(all),
        result.rule.relative, result.rule.absolute);
  return words +
         fmt::format(
             "Each is worse, better or equivalent (within {:.3g} nats), or undecided. The intervals behind "
             "verdicts hold for "
             "all {} comparisons together and at every time of stopping, but for an error of {:.2g} in all: "
             "runs, runs against their controls, and the sink. They are wider than the 95 % intervals of "
             "single figures, which tables and whiskers show beside them and which decide nothing; so a run "
             "may be undecided whose own interval lies far from 0.",
             result.rule.margin, result.rule.comparisons, result.rule.error);
}

Report ablation_report(const AblationResult& result, ReportHeader header) {
  for (const AblatedModel& model : result.models)
    for (const AblatedText& text : model.texts)
      header.sources.push_back(
          {.role = "tokens",
           .name = fmt::format("{} as {} sees it, calibrated on {}", text.name, model.name, text.calibration),
           .checksum = fmt::format("crc32c {:08x}", text.checksum)});
  Report report{.title = "What breaks", .header = std::move(header)};
  report.summary = {Paragraph{ablation_words(result)}};
  if (std::vector<std::string> warnings = warnings_of(result); !warnings.empty())
    report.summary.push_back(BulletList{std::move(warnings)});
  const bool ran =
      std::ranges::any_of(result.models, [](const AblatedModel& model) { return !model.plan.runs.empty(); });
  if (ran) report.summary.push_back(ablated_models(result));
  for (const AblatedModel& model : result.models)
    for (Section& section : ablation_sections(model, result)) report.sections.push_back(std::move(section));
  const bool layers = std::ranges::any_of(
      result.models, [](const AblatedModel& model) { return has_group(model, "layers"); });
  if (result.models.size() > 1 && layers) report.sections.push_back(twins_section(result));
  return report;
}

}  // namespace sluice
