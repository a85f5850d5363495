#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/analysis/gate_agreement.h"
#include "sluice/base/median.h"
#include "sluice/report/gate_sections.h"
#include "sluice/report/look_figures.h"
#include "sluice/report/look_tables.h"
#include "sluice/report/study_parts.h"
#include "sluice/report/study_report.h"
#include "sluice/report/table_parts.h"

namespace sluice {
namespace {

constexpr const char* kNoGate =
    "This model has no gate: nothing about gates can be measured here. The rest is.";

constexpr const char* kNoOutputGate =
    "Gates of a prompt, types of text and what goes with a gate are shown of a gate at g1, which this model "
    "does not have.";

// Do gates close where attention goes to the key?
Paragraph over_sink_words(const StudiedModel& model) {
  std::vector<double> correlations;
  for (const GateLayerRelations& layer : model.look.relations)
    for (const GateHeadRelations& head : layer.by_head)
      if (const double r = head.correlation(GateRelation::KeyAttention); std::isfinite(r))
        correlations.push_back(r);
  if (correlations.empty())
    return {"On so few tokens, or of gates that do not vary, nothing can be said of what they go with."};
  const auto negative = std::ranges::count_if(correlations, [](double r) { return r < 0; });
  return {fmt::format(
      "In {} of {} heads the gate is lower at queries that pay more attention to key {} (without the first "
      "four "
      "that see it); the median correlation is {:+.3f}. A correlation does not say which causes the other.",
      negative, correlations.size(), model.look.key, median(correlations))};
}

Paragraph token_order_words(const GatesByToken& tokens) {
  const double alike = token_order_agreement(tokens);
  if (!std::isfinite(alike))
    return {fmt::format(
        "Too few tokens occur {} times or more in both halves of the text to compare their order.",
        kOftenEnough)};
  return {
      fmt::format("Two halves of the text agree on the order of the tokens by their mean gate with a rank "
                  "correlation of {:.3f}.",
                  alike)};
}

Section tokens_section(const StudiedModel& model) {
  Section section{.title = model.name + ": gates by token"};
  section.blocks = {itself_block(model, model.look.by_token)};
  Table ranked = ranked_token_table(model);
  if (ranked.rows.empty()) {
    section.blocks.push_back(
        Note{fmt::format("No token occurs {} times or more in this text, so none is shown.", kOftenEnough)});
    return section;
  }
  append(section.blocks, {token_order_words(model.look.by_token), std::move(ranked), gates_by_token(model)});
  return section;
}

Section prompt_section(const StudiedModel& model) {
  Section section{.title = model.name + ": one prompt"};
  section.blocks.push_back(token_strip_figure(model));
  if (model.prompt.has_gates()) {
    section.blocks.push_back(token_map_figure(model));
    section.blocks.push_back(token_head_map_figure(model));
  }
  if (model.lens) {
    section.blocks.push_back(lens_figure(model));
    section.blocks.push_back(lens_table(model));
  }
  return section;
}

Paragraph extremes_words(const StudiedModel& model) {
  const auto& [open, closed] = split_half(model.look.relations);
  if (!std::isfinite(open)) return {"One sequence has no halves in which these tokens could be compared."};
  return {
      fmt::format("Of the {} tokens at which a head is most open, two halves of the text share {:.3f}, of "
                  "those at which it is most closed {:.3f} (Jaccard index, mean over heads).",
                  GateExtremes::kKept, open, closed)};
}

Section relations_section(const StudiedModel& model) {
  Section section{.title = model.name + ": what goes with an open gate"};
  section.blocks = {over_sink_words(model),  gate_over_sink_figure(model), head_scatter_figure(model),
                    relations_figure(model), relations_table(model),       extremes_words(model),
                    extreme_tokens(model)};
  if (!model.look.sparsity.empty()) {
    section.blocks.push_back(sparsity_figure(model));
    section.blocks.push_back(sparsity_table(model));
  }
  return section;
}

Section types_section(const StudiedModel& model) {
  const InputTypes& types = *model.types;
  Section section{.title = model.name + ": types of text"};
  const std::string verdict =
      types.p < 0.05 ? "the types differ by more than chance" : "no difference beyond chance was found";
  section.blocks = {Paragraph{fmt::format(
                        "A permutation test over samples of {} types gives p = {:.4g}: {}. Samples stand for "
                        "their type as far as they are typical of it.",
                        types.types.size(), types.p, verdict)},
                    input_types_figure(model), input_types_table(model), input_type_pairs(model),
                    input_types_by_layer(model)};
  return section;
}

}  // namespace

Report gates_report(const Study& study, ReportHeader header) {
  Report report = begun_report("What the gates do", study, std::move(header));
  report.summary.push_back(models_table(study));
  if (any_gates(study)) report.summary.push_back(gates_table(study));
  for (const StudiedModel& model : study.models) {
    for (const GateMeasure& gate : model.look.gates) {
      report.summary.push_back(Paragraph{gate_sentence(model.name, gate)});
      report.sections.push_back(gate_section(model, gate));
    }
    if (model.look.gates.empty())
      report.sections.push_back({.title = model.name,
                                 .blocks = {Note{kNoGate}, sink_figure(model), activation_figure(model),
                                            attention_by_layer(model), activations_table(model)}});
    if (!model.prompt.ids.empty()) report.sections.push_back(prompt_section(model));
    if (model.first_words) report.sections.push_back(first_words_section(model));
    if (!model.look.relations.empty()) {
      report.sections.push_back(relations_section(model));
      report.sections.push_back(tokens_section(model));
    }
    if (!model.look.gates.empty() && model.look.relations.empty())
      report.sections.push_back(
          {.title = model.name + ": what is not shown", .blocks = {Note{kNoOutputGate}}});
    if (model.types) report.sections.push_back(types_section(model));
    if (model.second && !model.look.gates.empty()) report.sections.push_back(second_text_section(model));
  }
  if (gated_outputs(study) > 1)
    report.sections.push_back(
        {.title = "Models beside each other", .blocks = {compared_gates_figure(study)}});
  return report;
}

std::string gates_text(const Study& study) {
  std::string text;
  for (const StudiedModel& model : study.models) {
    if (model.look.gates.empty()) text += fmt::format("{}: no gate\n", model.name);
    for (const GateMeasure& gate : model.look.gates) {
      text += gate_sentence(model.name, gate) + "\n";
      text +=
          fmt::format("  first token {}, others {}: others / first {}\n", number_text(gate.first().mean()),
                      number_text(gate.others().mean()), interval_words(gate.first_ratio));
    }
    if (!model.look.relations.empty()) text += "  " + over_sink_words(model).text + "\n";
  }
  return text;
}

}  // namespace sluice
