#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/plot/bar_chart.h"
#include "sluice/plot/panels.h"
#include "sluice/report/experiment_parts.h"

namespace sluice {
namespace {

constexpr NumberFormat kSignedNats{.style = NumberStyle::Fixed, .digits = 4, .sign = NumberSign::Always};
constexpr NumberFormat kShare{.style = NumberStyle::Fixed, .digits = 3};

// Over the broken runs of a variant; none if none has a finite number.
template <class Value>
std::optional<MeanInterval> over_broken(const ExperimentResult& result, const PlannedVariant& variant,
                                        Value value) {
  std::vector<double> values;
  for (const BrokenRun& run : result.broken)
    if (run.variant == variant.point.name() && std::isfinite(value(run))) values.push_back(value(run));
  if (values.empty()) return {};
  return mean_interval(values);
}

std::optional<MeanInterval> loss_change(const ExperimentResult& result, const PlannedVariant& variant,
                                        size_t intervention) {
  return over_broken(result, variant, [&](const BrokenRun& run) { return run.effects[intervention].loss; });
}

Table interventions_table(const ExperimentResult& result) {
  Table table{
      .name = result.experiment.name + "-interventions",
      .caption = fmt::format("Means over seeds with 95 % intervals, each model on {} held-out sequences",
                             kBrokenSequences),
      .columns = {{.name = "intervention", .kind = ColumnKind::Text},
                  {.name = "variant", .kind = ColumnKind::Text},
                  {.name = "models"},
                  {.name = "change of loss", .key = "loss", .unit = "nats per token", .format = kSignedNats},
                  {.name = "sink", .format = kShare},
                  {.name = "sink before", .key = "sink_before", .format = kShare}}};
  const auto& interventions = result.experiment.breaking->interventions;
  for (size_t i = 0; i < interventions.size(); ++i) {
    for (const PlannedVariant& variant : result.variants) {
      const auto loss = loss_change(result, variant, i);
      if (!loss) continue;
      table.rows.push_back(
          {interventions[i].name, variant.point.name(), loss->count, cell_over_seeds(loss),
           cell_over_seeds(
               over_broken(result, variant, [&](const BrokenRun& run) { return run.effects[i].sink; })),
           cell_over_seeds(over_broken(result, variant, [](const BrokenRun& run) { return run.sink; }))});
    }
  }
  return table;
}

ReportFigure interventions_figure(const ExperimentResult& result) {
  BarChart chart{.title = "change of loss", .y = {.label = "nats per token"}};
  for (const NamedChanges& each : result.experiment.breaking->interventions)
    chart.x.names.push_back(each.name);
  for (const PlannedVariant& variant : result.variants) {
    BarGroup bars{.name = variant.point.name()};
    for (size_t i = 0; i < chart.x.names.size(); ++i) {
      const auto loss = loss_change(result, variant, i);
      bars.values.push_back(loss ? loss->mean : std::nan(""));
      bars.low.push_back(loss ? around(*loss).low : std::nan(""));
      bars.high.push_back(loss ? around(*loss).high : std::nan(""));
    }
    chart.groups.push_back(std::move(bars));
  }
  const std::string name = result.experiment.name + "-interventions";
  return {.stem = name,
          .figure =
              figure_of(panel_of(std::move(chart)),
                        {fmt::format("Means over {} models with 95 % intervals over seeds; a variant without "
                                     "a gate has no bar where gates are changed.",
                                     result.broken.size())}),
          .table = name};
}

Table heads_table(const ExperimentResult& result) {
  Table table{.name = result.experiment.name + "-heads",
              .caption = fmt::format(
                  "Heads whose closing costs less than {} nats (upper end of a 95 % interval over "
                  "sequences), removed "
                  "together; then {} steps at a rate of {} with and without them. Means over seeds",
                  result.experiment.equal_loss, result.experiment.breaking->train_on,
                  result.experiment.breaking->rate),
              .columns = {{.name = "variant", .kind = ColumnKind::Text},
                          {.name = "models"},
                          {.name = "heads of a model", .key = "heads"},
                          {.name = "removed", .format = {.style = NumberStyle::Fixed, .digits = 1}},
                          {.name = "change of loss", .key = "removed_loss", .format = kSignedNats},
                          {.name = "after training on", .key = "trained_on_loss", .format = kSignedNats},
                          {.name = "gate with sink", .key = "gate_with_sink", .format = kShare}}};
  for (const PlannedVariant& variant : result.variants) {
    const auto removed =
        over_broken(result, variant, [](const BrokenRun& run) { return static_cast<double>(run.removed); });
    if (!removed) continue;
    const auto of = [&](double BrokenRun::*value) {
      return cell_over_seeds(over_broken(result, variant, [&](const BrokenRun& run) { return run.*value; }));
    };
    const auto any = std::ranges::find(result.broken, variant.point.name(), &BrokenRun::variant);
    table.rows.push_back({variant.point.name(), removed->count, any->heads, cell_over_seeds(removed),
                          of(&BrokenRun::removed_loss), of(&BrokenRun::trained_on_loss),
                          of(&BrokenRun::gate_with_sink)});
  }
  return table;
}

Finding breaking_finding(const ExperimentResult& result, const PlannedVariant& variant, size_t intervention) {
  const MeanInterval loss = *loss_change(result, variant, intervention);
  Difference difference{.what = "loss",
                        .subject = fmt::format("{}, {}", variant.point.name(),
                                               result.experiment.breaking->interventions[intervention].name),
                        .against = "the same models as they are",
                        .value = loss.mean,
                        .n = loss.count,
                        .counted = "models",
                        .margin = result.experiment.equal_loss};
  if (loss.half_width) difference.interval = around(loss);
  return finding_of(difference);
}

}  // namespace

std::vector<ReportBlock> experiment_breaking_findings(const ExperimentResult& result) {
  std::vector<ReportBlock> findings;
  if (result.broken.empty()) return findings;
  for (size_t i = 0; i < result.experiment.breaking->interventions.size(); ++i) {
    // What every variant can be given is a control.
    if (std::ranges::all_of(result.variants, [&](const PlannedVariant& variant) {
          return loss_change(result, variant, i).has_value();
        }))
      continue;
    for (const PlannedVariant& variant : result.variants)
      if (loss_change(result, variant, i)) findings.emplace_back(breaking_finding(result, variant, i));
  }
  return findings;
}

std::vector<ReportBlock> experiment_breaking_blocks(const ExperimentResult& result) {
  return {
      interventions_table(result), interventions_figure(result), heads_table(result),
      Note{"Gate with sink: correlation of a head's gate with its attention on the first token over tokens, "
           "mean over heads and layers; below 0 gates close where attention goes to the sink."}};
}

}  // namespace sluice
