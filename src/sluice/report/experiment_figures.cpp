#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/plot/bar_chart.h"
#include "sluice/plot/line_chart.h"
#include "sluice/plot/panels.h"
#include "sluice/report/experiment_parts.h"

namespace sluice {
namespace {

void add_bar(BarGroup& bars, const std::optional<MeanInterval>& mean) {
  bars.values.push_back(mean ? mean->mean : std::nan(""));
  bars.low.push_back(mean ? around(*mean).low : std::nan(""));
  bars.high.push_back(mean ? around(*mean).high : std::nan(""));
}

BarChart bars_by_variant(const ExperimentResult& result, const ExperimentFigure& figure) {
  BarChart chart{.title = figure.title, .y = {.label = figure.title}, .groups = {{}}};
  for (const PlannedVariant& variant : result.variants) {
    chart.x.names.push_back(variant.point.name());
    add_bar(chart.groups.front(), figure_over_seeds(result, variant, figure.value));
  }
  return chart;
}

// The variants side by side for every condition.
BarChart bars_by_condition(const ExperimentResult& result, const ExperimentFigure& figure) {
  BarChart chart{.title = figure.title, .y = {.label = figure.title}};
  for (const ExperimentCondition& condition : result.experiment.conditions)
    chart.x.names.push_back(condition.name);
  for (const ExperimentVariant& variant : result.experiment.variants) {
    BarGroup& bars = chart.groups.emplace_back(BarGroup{.name = variant.name});
    for (const PlannedVariant& each : result.variants)
      if (each.variant == variant.name) add_bar(bars, figure_over_seeds(result, each, figure.value));
  }
  return chart;
}

// Lines over the conditions, one for each variant.
LineChart over_conditions(const ExperimentResult& result, const std::string& title) {
  LineChart chart{.title = title,
                  .x = {.label = result.experiment.condition},
                  .y = {.label = title},
                  .legend = LegendPlace::None};
  const bool is_positive =
      std::ranges::all_of(result.variants, [](const PlannedVariant& each) { return each.at > 0; });
  if (is_positive) chart.x.scale = AxisScale::Log;
  for (const ExperimentVariant& variant : result.experiment.variants) {
    chart.series.push_back({.name = variant.name, .style = style_number(chart.series.size())});
    for (const PlannedVariant& each : result.variants)
      if (each.variant == variant.name) chart.series.back().x.push_back(each.at);
  }
  return chart;
}

LineChart figure_over_conditions(const ExperimentResult& result, const ExperimentFigure& figure) {
  LineChart chart = over_conditions(result, figure.title);
  for (Series& series : chart.series) {
    for (const PlannedVariant& each : result.variants) {
      if (each.variant != series.name) continue;
      const auto mean = figure_over_seeds(result, each, figure.value);
      series.y.push_back(mean ? mean->mean : std::nan(""));
      series.low.push_back(mean ? around(*mean).low : std::nan(""));
      series.high.push_back(mean ? around(*mean).high : std::nan(""));
    }
  }
  return chart;
}

LineChart diverged_over_conditions(const ExperimentResult& result) {
  LineChart chart = over_conditions(result, "share of runs that diverged");
  chart.y.at_least = {.low = 0, .high = 1};
  for (Series& series : chart.series) {
    for (const PlannedVariant& each : result.variants) {
      if (each.variant != series.name) continue;
      double runs = 0, diverged = 0;
      for (const MeasuredTraining& run : result.runs) {
        if (run.variant != each.point.name()) continue;
        ++runs;
        diverged += run.diverged ? 1 : 0;
      }
      series.y.push_back(runs > 0 ? diverged / runs : std::nan(""));
    }
  }
  return chart;
}

}  // namespace

ReportFigure experiment_figure(const ExperimentResult& result) {
  const Experiment& experiment = result.experiment;
  const bool has_conditions = !experiment.conditions.empty();
  const bool is_line = has_conditions && experiment.condition_axis == ConditionAxis::Values;
  Panels panels{
      .columns = has_conditions ? size_t{2} : size_t{3},
      .caption = {fmt::format("Means over seeds with 95 % intervals; {} runs of {:L} steps. Uniform "
                              "attention puts {:.3f} on the first token.",
                              result.runs.size(), result.steps, result.sink_floor)}};
  for (const ExperimentFigure& figure : measured_figures(result)) {
    if (!figure.is_compared) continue;
    panels.panels.push_back(is_line          ? panel_of(figure_over_conditions(result, figure))
                            : has_conditions ? panel_of(bars_by_condition(result, figure))
                                             : panel_of(bars_by_variant(result, figure)));
  }
  if (is_line) {
    panels.panels.push_back(panel_of(diverged_over_conditions(result)));
    panels.legend = legend_of(over_conditions(result, "").series);
  }
  return {.stem = experiment.name,
          .figure = figure_of(std::move(panels)),
          .table = experiment.name + "-variants"};
}

}  // namespace sluice
