#include "sluice/report/gate_sections.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>

#include "sluice/analysis/gate_agreement.h"
#include "sluice/report/look_figures.h"
#include "sluice/report/look_tables.h"
#include "sluice/report/study_parts.h"
#include "sluice/report/table_parts.h"

namespace sluice {
namespace {

constexpr const char* kMutesItself =
    " A gate at the first token mutes that token's own output, not the attention that others pay to it.";
constexpr int64_t kFewSequences = 5;  // a bootstrap of fewer is no interval to decide by

Finding first_token_finding(const std::string& name, const Look& look, const GateMeasure& gate) {
  const Estimate& difference = gate.first_difference;
  return finding_of({.what = "the mean gate",
                     .subject = fmt::format("the first token of a sequence ({}, {})", name, gate.position),
                     .against = "the other tokens",
                     .value = difference.value,
                     .interval = look.sequences < kFewSequences ? std::nullopt : difference.ci95,
                     .n = look.sequences,
                     .counted = "sequences",
                     .limits = fmt::format("Different tokens that stand first: {}.{}", look.first_tokens,
                                           gate.position == GatePosition::G1->name ? kMutesItself : "")});
}

struct NamedAgreement {
  const char* what;
  double value;  // NaN where there is nothing to compare
};

// "all heads 0.993, layers 1.000": of those that can be compared.
std::string listed(std::initializer_list<NamedAgreement> all) {
  std::string text;
  for (const auto& [what, value] : all)
    if (std::isfinite(value)) text += fmt::format("{}{} {:.3f}", text.empty() ? "" : ", ", what, value);
  return text;
}

Paragraph orders_words(const char* whose, const GateAgreement& alike) {
  const std::string orders = listed(
      {{"all heads", alike.heads}, {"layers", alike.layers}, {"heads over all layers", alike.head_numbers}});
  if (orders.empty()) return {fmt::format("{} have no order of heads or layers to compare.", whose)};
  return {
      fmt::format("{} agree on orders by the mean gate with these rank correlations: {}.", whose, orders)};
}

Paragraph channels_words(const char* whose, const GateAgreement& alike) {
  const std::string sets = listed(
      {{"always closed", alike.closed}, {"always open", alike.open}, {"input-dependent", alike.dynamic}});
  if (sets.empty()) return {fmt::format("{} have no set of channels to compare.", whose)};
  return {
      fmt::format("{} agree on sets of channels with these Jaccard indices (1: the same channels; a set "
                  "without channels is left out): {}.",
                  whose, sets)};
}

void add_ranks(Section& section, const StudiedModel& model, const GateMeasure& gate) {
  Table ranked = ranked_gates(model, gate);
  if (ranked.rows.empty()) return;  // one head has no rank
  section.blocks.push_back(std::move(ranked));
  section.blocks.push_back(orders_words("Two halves of the text", split_half(gate)));
}

void add_channels(Section& section, const StudiedModel& model, const GateMeasure& gate) {
  if (gate.layers.front().width == 1) return;
  section.blocks.push_back(channel_figure(model, gate));
  section.blocks.push_back(channels_words("Two halves of the text", split_half(gate)));
  section.blocks.push_back(channels_by_layer(model, gate));
  section.blocks.push_back(channels_by_head(model, gate));
}

}  // namespace

std::string gate_sentence(const std::string& name, const GateMeasure& gate) {
  const Distribution values = gate.values();
  return fmt::format(
      "{}, gate {}: mean {}, median {:.4f}; {:.2f} % of {} values are below 0.1, {:.2f} % above 0.9.", name,
      gate.position, interval_words(gate.mean), values.quantile(0.5), 100 * values.closed(),
      integer_text(values.count()), 100 * values.open());
}

Section gate_section(const StudiedModel& model, const GateMeasure& gate) {
  Section section{.title = fmt::format("{}: gate {}", model.name, gate.position)};
  section.blocks = {Paragraph{gate_sentence(model.name, gate)}, gate_distribution_figure(model, gate),
                    gates_by_layer(model, gate), head_map_figure(model, gate), gates_by_head(model, gate)};
  add_ranks(section, model, gate);
  append(section.blocks, {first_token_finding(model.name, model.look, gate), first_token_figure(model, gate),
                          layer_distributions_figure(model, gate), gate_by_position_figure(model, gate),
                          gates_by_position(model, gate)});
  add_channels(section, model, gate);
  return section;
}

ReportBlock itself_block(const StudiedModel& model, const GatesByToken& tokens) {
  const FirstAgainstItself itself = first_against_itself(tokens);
  if (itself.tokens == 0)
    return Paragraph{
        "No token stands first in one place and elsewhere in another, so that the place and the word "
        "cannot be told apart."};
  return finding_of(
      {.what = "the mean gate",
       .subject = fmt::format("a token where it stands first ({}, g1)", model.name),
       .against = "the same token elsewhere",
       .value = itself.difference.value,
       .interval = itself.tokens < kFewSequences ? std::nullopt : itself.difference.ci95,
       .n = itself.tokens,
       .counted = "different tokens",
       .limits = "The word is the same, so what differs is due to the place and what stands before it."});
}

Section first_words_section(const StudiedModel& model) {
  const Look& look = *model.first_words;
  Section section{.title = model.name + ": different first words"};
  for (const GateMeasure& gate : look.gates) {
    section.blocks.push_back(first_token_finding(model.name, look, gate));
    section.blocks.push_back(first_words_figure(model, gate));
    section.blocks.push_back(first_words_table(model, gate));
  }
  if (!look.by_token.empty()) section.blocks.push_back(itself_block(model, look.by_token));
  return section;
}

Section second_text_section(const StudiedModel& model) {
  Section section{.title = model.name + ": a second kind of text"};
  const std::string name = model.name + " on the second text";
  for (size_t i = 0; i < model.look.gates.size(); ++i) {
    const GateMeasure &gate = model.look.gates[i], &second = model.second->gates[i];
    const GateAgreement alike = agreement(gate, second);
    section.blocks.push_back(Paragraph{gate_sentence(name, second)});
    section.blocks.push_back(first_token_finding(name, *model.second, second));
    section.blocks.push_back(second_text_figure(model, gate, second));
    section.blocks.push_back(second_text_table(model, gate, second));
    section.blocks.push_back(orders_words("Both texts", alike));
    if (gate.layers.front().width > 1) {
      section.blocks.push_back(channels_words("Both texts", alike));
      section.blocks.push_back(channels_words("Two halves of the second text", split_half(second)));
    }
  }
  return section;
}

}  // namespace sluice
