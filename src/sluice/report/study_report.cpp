#include "sluice/report/study_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/base/median.h"
#include "sluice/report/experts_section.h"
#include "sluice/report/look_figures.h"
#include "sluice/report/look_tables.h"

namespace sluice {
namespace {

constexpr const char* kNoGate =
    "This model has no gate: nothing about gates can be measured here. The rest is.";

constexpr const char* kNoOutputGate =
    "Gates of a prompt, types of text and what goes with a gate are shown of a gate at g1, which this model "
    "does "
    "not have.";
constexpr const char* kMutesItself =
    " A gate at the first token mutes that token's own output, not the attention that others pay to it.";
constexpr int64_t kFewSequences = 5;  // a bootstrap of fewer is no interval to decide by

std::string interval_words(const Uncertain& figure) {
  if (!figure.ci95) return number_text(figure.value) + " (one sequence: no interval)";
  return number_text(Estimate{figure.value, *figure.ci95});
}

std::string gate_sentence(const StudiedModel& model, const GateMeasure& gate) {
  const Distribution values = gate.values();
  return fmt::format(
      "{}, gate {}: mean {}, median {:.4f}; {:.2f} % of {} values are below 0.1, {:.2f} % above 0.9.",
      model.name, gate.position, interval_words(gate_mean(gate)), values.quantile(0.5), 100 * values.closed(),
      integer_text(values.count()), 100 * values.open());
}

Finding first_token_finding(const StudiedModel& model, const GateMeasure& gate) {
  const Uncertain difference = first_token_difference(gate);
  return finding_of(
      {.what = "the mean gate",
       .subject = fmt::format("the first token of a sequence ({}, {})", model.name, gate.position),
       .against = "the other tokens",
       .value = difference.value,
       .interval = model.look.sequences < kFewSequences ? std::nullopt : difference.ci95,
       .n = model.look.sequences,
       .counted = "sequences",
       .limits = fmt::format("Different tokens that stand first: {}.{}", model.look.first_tokens,
                             gate.position == GatePosition::G1->name ? kMutesItself : "")});
}

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

Section gate_section(const StudiedModel& model, const GateMeasure& gate) {
  Section section{.title = fmt::format("{}: gate {}", model.name, gate.position)};
  section.blocks = {Paragraph{gate_sentence(model, gate)},
                    gate_distribution_figure(model, gate),
                    gates_by_layer(model, gate),
                    head_map_figure(model, gate),
                    ranked_heads(model, gate),
                    gates_by_head(model, gate),
                    first_token_finding(model, gate),
                    first_token_figure(model, gate),
                    layer_distributions_figure(model, gate),
                    gate_by_position_figure(model, gate),
                    gates_by_position(model, gate)};
  if (gate.layers.front().width > 1) {
    const SplitHalf halves = split_half(gate);
    section.blocks.push_back(channel_figure(model, gate));
    section.blocks.push_back(channels_by_layer(model, gate));
    section.blocks.push_back(Paragraph{
        fmt::format("Two halves of the text agree on which channels are always closed to {}, always open to "
                    "{}, input-dependent to {} (Jaccard index, 1: the same channels).",
                    number_text(halves.closed), number_text(halves.open), number_text(halves.dynamic))});
  }
  if (const double alike = split_half(gate).heads; std::isfinite(alike)) {
    section.blocks.push_back(
        Paragraph{fmt::format("The order of the heads by their mean gate in one half of the text and in the "
                              "other: rank correlation {:.3f}.",
                              alike)});
  }
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

Section relations_section(const StudiedModel& model) {
  Section section{.title = model.name + ": what goes with an open gate"};
  section.blocks = {over_sink_words(model), gate_over_sink_figure(model), relations_figure(model),
                    relations_table(model), extreme_tokens(model)};
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
                    input_types_figure(model), input_types_table(model), input_type_pairs(model)};
  return section;
}

Section second_section(const StudiedModel& model) {
  Section section{.title = model.name + ": a second kind of text"};
  for (const GateMeasure& gate : model.second->gates) {
    const StudiedModel second{.name = model.name + " on the second text", .look = *model.second};
    section.blocks.push_back(Paragraph{gate_sentence(second, gate)});
    section.blocks.push_back(first_token_finding(second, gate));
  }
  if (model.look.output_gate() != nullptr && model.second->output_gate() != nullptr)
    section.blocks.push_back(second_text_figure(model));
  return section;
}

Section attention_section(const StudiedModel& model, MapScale scale) {
  Section section{.title = model.name};
  const Look& look = model.look;
  const Uncertain on_key = sink(look);
  section.blocks = {
      Paragraph{
          fmt::format("Of the attention {} lies on key {} ({:.4f} if it were uniform), {} without the first "
                      "four queries; {:.1f} % of the heads have more than 0.3 there.",
                      interval_words(on_key), look.key, look.key_floor, interval_words(late_sink(look)),
                      100 * sink_rate(look.attention, 0.3))},
      attention_maps_figure(model, scale),
      sink_figure(model),
      attention_by_layer(model),
      sink_head_map_figure(model),
      entropy_head_map_figure(model),
      attention_by_head(model),
      Paragraph{fmt::format("The largest absolute value of a block's output is {} on average over layers.",
                            number_text(look.activations.front().mean()))},
      activation_figure(model),
      activations_table(model)};
  return section;
}

// Among many differences some intervals miss zero by chance; the test is corrected for that, so it has the
// last word.
Finding difference_finding(const Study& study, const PairedDifference& difference) {
  constexpr double kLevel = 0.05;
  const std::string corrected =
      fmt::format("Corrected for all differences of this page p = {:.2g}.", difference.p);
  const Difference words{.what = difference.words,
                         .subject = study.models[difference.model].name,
                         .against = study.models.front().name,
                         .value = difference.difference.value,
                         .interval = difference.difference.ci95,
                         .n = study.models.front().look.sequences,
                         .counted = "sequences",
                         .margin = difference.margin,
                         .limits = corrected + " One text, and one training run of each model."};
  const Finding finding = finding_of(words);
  const bool decided = finding.verdict == Verdict::Higher || finding.verdict == Verdict::Lower;
  if (!decided || difference.p < kLevel) return finding;
  return {.verdict = Verdict::Undecided,
          .text = fmt::format("Whether {} of {} is higher or lower than of {} is undecided: the difference "
                              "is {} (n = {} sequences), "
                              "but among so many differences that may be chance. {}",
                              words.what, words.subject, words.against, interval_words(difference.difference),
                              words.n, words.limits)};
}

// Signs of n sequences can be drawn in 2^n ways, so p is never below 2^(1 - n).
std::optional<Note> too_few_words(const ModelComparison& comparison) {
  const int64_t n = comparison.study.models.front().look.sequences;
  const double least =
      std::exp2(1.0 - static_cast<double>(n)) * static_cast<double>(comparison.differences.size());
  if (least < 0.05) return {};
  return Note{
      fmt::format("With {} sequences the corrected p of the smallest is at least {:.2g}, so nothing can be "
                  "decided here: --chunks "
                  "and a longer text give more.",
                  n, std::min(least, 1.0))};
}

bool any_gates(const Study& study) {
  return std::ranges::any_of(study.models,
                             [](const StudiedModel& model) { return !model.look.gates.empty(); });
}

int64_t gated_outputs(const Study& study) {
  return std::ranges::count_if(study.models,
                               [](const StudiedModel& model) { return !model.look.relations.empty(); });
}

// With what the models saw, which a name of a file does not say.
Report begun_report(const char* title, const Study& study, ReportHeader header) {
  const Look& look = study.models.front().look;
  header.sources.push_back(
      {.role = "tokens",
       .name = fmt::format("{} in {} sequences", integer_text(look.tokens), look.sequences),
       .checksum = fmt::format("crc32c {:08x}", look.text_checksum)});
  Report report{.title = title, .header = std::move(header)};
  for (const std::string& change : study.interventions)
    report.summary.push_back(Note{fmt::format("Looked at while {} was applied.", change)});
  return report;
}

}  // namespace

Report gates_report(const Study& study, ReportHeader header) {
  Report report = begun_report("What the gates do", study, std::move(header));
  report.summary.push_back(models_table(study));
  if (any_gates(study)) report.summary.push_back(gates_table(study));
  for (const StudiedModel& model : study.models) {
    for (const GateMeasure& gate : model.look.gates) {
      report.summary.push_back(Paragraph{gate_sentence(model, gate)});
      report.sections.push_back(gate_section(model, gate));
    }
    if (model.look.gates.empty())
      report.sections.push_back({.title = model.name,
                                 .blocks = {Note{kNoGate}, sink_figure(model), activation_figure(model),
                                            attention_by_layer(model), activations_table(model)}});
    if (!model.look.experts.empty()) report.sections.push_back(experts_section(model));
    if (!model.prompt.ids.empty()) report.sections.push_back(prompt_section(model));
    if (!model.look.relations.empty()) report.sections.push_back(relations_section(model));
    if (!model.look.gates.empty() && model.look.relations.empty())
      report.sections.push_back(
          {.title = model.name + ": what is not shown", .blocks = {Note{kNoOutputGate}}});
    if (model.types) report.sections.push_back(types_section(model));
    if (model.second && !model.look.gates.empty()) report.sections.push_back(second_section(model));
  }
  if (gated_outputs(study) > 1)
    report.sections.push_back(
        {.title = "Models beside each other", .blocks = {compared_gates_figure(study)}});
  return report;
}

Report attention_report(const Study& study, ReportHeader header, MapScale map_scale) {
  Report report = begun_report("Where attention goes", study, std::move(header));
  report.summary.push_back(models_table(study));
  for (const StudiedModel& model : study.models)
    report.sections.push_back(attention_section(model, map_scale));
  return report;
}

Report comparison_report(const ModelComparison& comparison, ReportHeader header) {
  const Study& study = comparison.study;
  Report report = begun_report("Models compared", study, std::move(header));
  report.summary.push_back(models_table(study));
  if (any_gates(study)) report.summary.push_back(gates_table(study));
  Section differences{.title = "Differences"};
  for (const PairedDifference& difference : comparison.differences) {
    differences.blocks.push_back(difference_finding(study, difference));
  }
  if (const std::optional<Note> note = too_few_words(comparison)) differences.blocks.push_back(*note);
  differences.blocks.push_back(differences_table(comparison));
  report.sections.push_back(std::move(differences));
  Section layers{.title = "By layer", .blocks = {compared_layers_figure(study), compared_layers(study)}};
  if (gated_outputs(study) > 1) layers.blocks.push_back(compared_gates_figure(study));
  report.sections.push_back(std::move(layers));
  return report;
}

std::string gates_text(const Study& study) {
  std::string text;
  for (const StudiedModel& model : study.models) {
    if (model.look.gates.empty()) text += fmt::format("{}: no gate\n", model.name);
    for (const GateMeasure& gate : model.look.gates) {
      text += gate_sentence(model, gate) + "\n";
      text +=
          fmt::format("  first token {}, others {}: others / first {}\n", number_text(gate.first().mean()),
                      number_text(gate.others().mean()), interval_words(first_token_ratio(gate)));
    }
    if (!model.look.relations.empty()) text += "  " + over_sink_words(model).text + "\n";
    if (!model.look.experts.empty()) text += experts_sentence(model) + "\n";
  }
  return text;
}

std::string attention_text(const Study& study) {
  std::string text;
  for (const StudiedModel& model : study.models) {
    const Look& look = model.look;
    text += fmt::format(
        "{}: {} on key {} ({:.4f} if uniform), {} without the first four queries; largest activation {}\n",
        model.name, interval_words(sink(look)), look.key, look.key_floor, interval_words(late_sink(look)),
        number_text(look.activations.front().mean()));
  }
  return text;
}

std::string to_text(const ModelComparison& comparison) {
  const Study& study = comparison.study;
  std::string text = attention_text(study);
  for (const PairedDifference& difference : comparison.differences)
    text += fmt::format("{}, {} minus {}: {}, p = {:.3g}\n", difference.figure,
                        study.models[difference.model].name, study.models.front().name,
                        interval_words(difference.difference), difference.p);
  return text;
}

}  // namespace sluice
