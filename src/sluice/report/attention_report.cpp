#include <fmt/format.h>

#include <cmath>

#include "sluice/analysis/gate_agreement.h"
#include "sluice/report/look_figures.h"
#include "sluice/report/look_tables.h"
#include "sluice/report/study_parts.h"
#include "sluice/report/study_report.h"

namespace sluice {
namespace {

std::string order_words(const Look& look) {
  const double alike = sink_order_agreement(look.attention);
  if (!std::isfinite(alike))
    return "One sequence, or heads that do not differ: their order cannot be checked.";
  return fmt::format(
      "Two halves of the text agree on the order of the heads by their attention on the key with "
      "a rank correlation of {:.3f}.",
      alike);
}

Section attention_section(const StudiedModel& model, MapScale scale) {
  Section section{.title = model.name};
  const Look& look = model.look;
  section.blocks = {
      Paragraph{
          fmt::format("Of the attention {} lies on key {} ({:.4f} if it were uniform), {} without the first "
                      "four queries; {:.1f} % of the heads have more than 0.3 there.",
                      interval_words(look.sink), look.key, look.key_floor, interval_words(look.late_sink),
                      100 * sink_rate(look.attention, 0.3))},
      attention_maps_figure(model, scale),
      sink_figure(model),
      attention_by_layer(model),
      sink_rates(model),
      sink_head_map_figure(model),
      entropy_head_map_figure(model),
      attention_by_head(model),
      Paragraph{order_words(look)},
      Paragraph{fmt::format("The largest absolute value of a block's output is {} on average over layers.",
                            number_text(look.activations.front().mean()))},
      activation_figure(model),
      activations_table(model)};
  return section;
}

}  // namespace

Report attention_report(const Study& study, ReportHeader header, MapScale map_scale) {
  Report report = begun_report("Where attention goes", study, std::move(header));
  report.summary.push_back(models_table(study));
  for (const StudiedModel& model : study.models)
    report.sections.push_back(attention_section(model, map_scale));
  return report;
}

std::string attention_text(const Study& study) {
  std::string text;
  for (const StudiedModel& model : study.models) {
    const Look& look = model.look;
    text += fmt::format(
        "{}: {} on key {} ({:.4f} if uniform), {} without the first four queries; largest activation {}\n",
        model.name, interval_words(look.sink), look.key, look.key_floor, interval_words(look.late_sink),
        number_text(look.activations.front().mean()));
  }
  return text;
}

}  // namespace sluice
