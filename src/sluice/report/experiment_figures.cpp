#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/plot/bar_chart.h"
#include "sluice/plot/line_chart.h"
#include "sluice/plot/panels.h"
#include "sluice/report/experiment_parts.h"

namespace sluice {
namespace {

// What a figure shows of each variant: its own values, or what it differs by from what it is compared with.
enum class Shown { Values, Differences };

struct Charted {
  const ExperimentResult& result;
  Shown shown;

  bool has(const PlannedVariant& variant) const {
    return shown == Shown::Values || is_compared(result, variant);
  }
  // Variants of which there is something to see, under whatever condition.
  std::vector<std::string> variants() const {
    std::vector<std::string> names;
    for (const ExperimentVariant& variant : result.experiment.variants)
      if (std::ranges::any_of(result.variants, [&](const PlannedVariant& each) {
            return each.variant == variant.name && has(each);
          }))
        names.push_back(variant.name);
    return names;
  }
  std::optional<MeanInterval> of(const PlannedVariant& variant, const ExperimentFigure& figure) const {
    return shown == Shown::Values ? figure_over_seeds(result, variant, figure.value)
                                  : planned_difference(result, variant, figure.value).difference;
  }
  std::string label(const std::string& title) const {
    if (shown == Shown::Values) return title;
    return fmt::format("{}, minus {}", title, result.variants.front().variant);
  }
};

void add_bar(BarGroup& bars, const std::optional<MeanInterval>& mean) {
  bars.values.push_back(mean ? mean->mean : std::nan(""));
  bars.low.push_back(mean ? around(*mean).low : std::nan(""));
  bars.high.push_back(mean ? around(*mean).high : std::nan(""));
}

BarChart bars_by_variant(const Charted& charted, const ExperimentFigure& figure) {
  const std::string label = charted.label(figure.title);
  BarChart chart{.title = label, .y = {.label = label}, .groups = {{}}};
  for (const PlannedVariant& variant : charted.result.variants) {
    if (!charted.has(variant)) continue;
    chart.x.names.push_back(variant.point.name());
    add_bar(chart.groups.front(), charted.of(variant, figure));
  }
  return chart;
}

// The variants side by side for every condition.
BarChart bars_by_condition(const Charted& charted, const ExperimentFigure& figure) {
  const std::string label = charted.label(figure.title);
  BarChart chart{.title = label, .y = {.label = label}};
  for (const ExperimentCondition& condition : charted.result.experiment.conditions)
    chart.x.names.push_back(condition.name);
  for (const std::string& variant : charted.variants()) {
    BarGroup& bars = chart.groups.emplace_back(BarGroup{.name = variant});
    for (const PlannedVariant& each : charted.result.variants)
      if (each.variant == variant) add_bar(bars, charted.of(each, figure));
  }
  return chart;
}

// Lines over the conditions, one for each variant.
LineChart over_conditions(const Charted& charted, const std::string& title) {
  const ExperimentResult& result = charted.result;
  LineChart chart{.title = title,
                  .x = {.label = result.experiment.condition},
                  .y = {.label = title},
                  .legend = LegendPlace::None};
  const bool is_positive =
      std::ranges::all_of(result.variants, [](const PlannedVariant& each) { return each.at > 0; });
  if (is_positive) chart.x.scale = AxisScale::Log;
  const auto& all = result.experiment.variants;
  for (const std::string& variant : charted.variants()) {
    // The same style in all of an experiment's figures.
    const auto place = std::ranges::find(all, variant, &ExperimentVariant::name) - all.begin();
    chart.series.push_back({.name = variant, .style = style_number(static_cast<size_t>(place))});
    for (const PlannedVariant& each : result.variants)
      if (each.variant == variant) chart.series.back().x.push_back(each.at);
  }
  return chart;
}

LineChart figure_over_conditions(const Charted& charted, const ExperimentFigure& figure) {
  LineChart chart = over_conditions(charted, charted.label(figure.title));
  for (Series& series : chart.series) {
    for (const PlannedVariant& each : charted.result.variants) {
      if (each.variant != series.name) continue;
      const auto mean = charted.of(each, figure);
      series.y.push_back(mean ? mean->mean : std::nan(""));
      series.low.push_back(mean ? around(*mean).low : std::nan(""));
      series.high.push_back(mean ? around(*mean).high : std::nan(""));
    }
  }
  return chart;
}

LineChart diverged_over_conditions(const ExperimentResult& result) {
  LineChart chart = over_conditions({result, Shown::Values}, "share of runs that diverged");
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

bool has_line_of_conditions(const Experiment& experiment) {
  return !experiment.conditions.empty() && experiment.condition_axis == ConditionAxis::Values;
}

// A panel for each figure that is compared.
Panels panels_of(const Charted& charted) {
  const Experiment& experiment = charted.result.experiment;
  const bool has_conditions = !experiment.conditions.empty(), is_line = has_line_of_conditions(experiment);
  Panels panels{.columns = has_conditions ? size_t{2} : size_t{3}};
  for (const ExperimentFigure& figure : measured_figures(charted.result)) {
    if (!figure.is_compared) continue;
    panels.panels.push_back(is_line          ? panel_of(figure_over_conditions(charted, figure))
                            : has_conditions ? panel_of(bars_by_condition(charted, figure))
                                             : panel_of(bars_by_variant(charted, figure)));
  }
  if (is_line) panels.legend = legend_of(over_conditions(charted, "").series);
  return panels;
}

}  // namespace

ReportFigure experiment_figure(const ExperimentResult& result) {
  Panels panels = panels_of({result, Shown::Values});
  panels.caption = {
      fmt::format("Means over seeds with 95 % intervals; {} runs of {:L} steps. Uniform "
                  "attention puts {:.3f} on the first token.",
                  result.runs.size(), result.steps, result.sink_floor)};
  if (has_line_of_conditions(result.experiment))
    panels.panels.push_back(panel_of(diverged_over_conditions(result)));
  return {.stem = result.experiment.name,
          .figure = figure_of(std::move(panels)),
          .table = result.experiment.name + "-variants"};
}

ReportFigure experiment_differences_figure(const ExperimentResult& result) {
  Panels panels = panels_of({result, Shown::Differences});
  panels.caption = {
      "Differences of pairs of seeds with the intervals of the table above; below 0: lower "
      "than what it is compared with."};
  return {.stem = result.experiment.name + "-differences",
          .figure = figure_of(std::move(panels)),
          .table = result.experiment.name + "-differences"};
}

}  // namespace sluice
