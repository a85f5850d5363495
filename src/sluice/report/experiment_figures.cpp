#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/analysis/attention_measure.h"
#include "sluice/plot/bar_chart.h"
#include "sluice/plot/line_chart.h"
#include "sluice/plot/panels.h"
#include "sluice/report/experiment_parts.h"

namespace sluice {
namespace {

constexpr int64_t kFewestForInterval = 3;  // seeds

// What a figure shows of each variant: its own values, or what it differs by from what it is compared with.
enum class Shown { Values, Differences };

struct Charted {
  const ExperimentResult& result;
  Shown shown;

  bool is_shown(const PlannedVariant& variant) const {
    return shown == Shown::Values || is_compared(result, variant);
  }
  // One of the experiment's variants under each condition, by its place on their axis.
  std::vector<const PlannedVariant*> by_place(const std::string& variant) const {
    std::vector<const PlannedVariant*> places;
    for (const PlannedVariant& each : result.variants)
      if (each.variant == variant) places.push_back(&each);
    std::ranges::stable_sort(places, {}, &PlannedVariant::at);
    return places;
  }
  // Variants of which there is something to see, under whatever condition.
  std::vector<std::string> variants() const {
    std::vector<std::string> names;
    for (const ExperimentVariant& variant : result.experiment.variants)
      if (std::ranges::any_of(result.variants, [&](const PlannedVariant& each) {
            return each.variant == variant.name && is_shown(each);
          }))
        names.push_back(variant.name);
    return names;
  }
  std::optional<MeanInterval> mean_of(const PlannedVariant& variant, const ExperimentFigure& figure) const {
    return shown == Shown::Values ? figure_over_seeds(result, variant, figure.value)
                                  : planned_difference(result, variant, figure.value).shown();
  }
  Interval interval_of(const PlannedVariant& variant, const ExperimentFigure& figure) const {
    const Interval interval = drawn_interval(mean_of(variant, figure));
    return within(interval,
                  shown == Shown::Differences ? possible_differences(figure) : possible_values(figure));
  }
  // What that is a mean of. Of differences as many as the look has seen.
  std::vector<double> points_of(const PlannedVariant& variant, const ExperimentFigure& figure) const {
    return shown == Shown::Values ? values_over_seeds(result, variant, figure.value)
                                  : planned_difference(result, variant, figure.value).differences;
  }
  std::string label(const std::string& title) const {
    if (shown == Shown::Values) return title;
    return fmt::format("{}, minus {}", title, result.variants.front().variant);
  }
};

bool spans_magnitudes(const Charted& charted, const ExperimentFigure& figure) {
  Extent means, points;
  for (const PlannedVariant& variant : charted.result.variants) {
    if (const auto mean = charted.mean_of(variant, figure)) means.add(mean->mean);
    for (const double point : charted.points_of(variant, figure)) points.add(point);
  }
  return !points.is_empty() && points.low > 0 && spans_magnitudes(means);
}

double largest_sink(const ExperimentResult& result) {
  Extent sinks;
  for (const PlannedVariant& variant : result.variants)
    for (const double sink : values_over_seeds(result, variant, &MeasuredTraining::sink)) sinks.add(sink);
  return sinks.high;
}

ChartAxis value_axis(const Charted& charted, const ExperimentFigure& figure) {
  ChartAxis axis{.label = charted.label(figure.title)};
  if (charted.shown == Shown::Differences) return axis;
  if (figure.value == &MeasuredTraining::sink)
    return sink_axis(charted.result.sink_floor, largest_sink(charted.result));
  if (!figure.is_share && spans_magnitudes(charted, figure)) axis.scale = AxisScale::Log;
  return axis;
}

// Without names and bars. Differences are bars on 0, means are where they are.
BarChart bar_chart(const Charted& charted, const ExperimentFigure& figure) {
  return {.title = charted.label(figure.title),
          .y = value_axis(charted, figure),
          .marks = charted.shown == Shown::Differences ? BarMarks::Bars : BarMarks::Dots};
}

void add_bar(BarGroup& bars, const Charted& charted, const PlannedVariant& variant,
             const ExperimentFigure& figure) {
  const std::optional<MeanInterval> mean = charted.mean_of(variant, figure);
  const Interval interval = charted.interval_of(variant, figure);
  bars.values.push_back(mean ? mean->mean : std::nan(""));
  bars.low.push_back(interval.low);
  bars.high.push_back(interval.high);
  bars.points.push_back(charted.points_of(variant, figure));
}

BarChart bars_by_variant(const Charted& charted, const ExperimentFigure& figure) {
  BarChart chart = bar_chart(charted, figure);
  chart.groups.emplace_back();
  for (const PlannedVariant& variant : charted.result.variants) {
    if (!charted.is_shown(variant)) continue;
    chart.x.names.push_back(variant.point.name());
    add_bar(chart.groups.front(), charted, variant, figure);
  }
  return chart;
}

// The variants side by side for every condition.
BarChart bars_by_condition(const Charted& charted, const ExperimentFigure& figure) {
  BarChart chart = bar_chart(charted, figure);
  for (const ExperimentCondition& condition : charted.result.experiment.conditions)
    chart.x.names.push_back(condition.name);
  for (const std::string& variant : charted.variants()) {
    BarGroup& bars = chart.groups.emplace_back(BarGroup{.name = variant});
    for (const PlannedVariant& each : charted.result.variants)
      if (each.variant == variant) add_bar(bars, charted, each, figure);
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
    for (const PlannedVariant* each : charted.by_place(variant)) chart.series.back().x.push_back(each->at);
  }
  return chart;
}

LineChart figure_over_conditions(const Charted& charted, const ExperimentFigure& figure) {
  LineChart chart = over_conditions(charted, charted.label(figure.title));
  chart.y = value_axis(charted, figure);
  for (Series& series : chart.series) {
    for (const PlannedVariant* each : charted.by_place(series.name)) {
      const auto mean = charted.mean_of(*each, figure);
      const Interval interval = charted.interval_of(*each, figure);
      series.y.push_back(mean ? mean->mean : std::nan(""));
      series.low.push_back(interval.low);
      series.high.push_back(interval.high);
    }
  }
  return chart;
}

LineChart diverged_over_conditions(const ExperimentResult& result) {
  const Charted charted{result, Shown::Values};
  LineChart chart = over_conditions(charted, "share of runs that diverged");
  chart.y.at_least = {.low = 0, .high = 1};
  for (Series& series : chart.series) {
    for (const PlannedVariant* each : charted.by_place(series.name)) {
      double runs = 0, diverged = 0;
      for (const MeasuredTraining& run : result.runs) {
        if (run.variant != each->point.name()) continue;
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

bool is_near_sinks(double uniform, double largest) {
  constexpr double kNear = 1.0 / 3;  // of what counts as one: the axis has room for it
  return largest >= kNear * kSinkTimesUniform * uniform;
}

bool any_diverged(const ExperimentResult& result) {
  return std::ranges::any_of(result.runs, &MeasuredTraining::diverged);
}

// What a caption adds where too few seeds leave a mean without its interval.
std::string left_out_text(const Charted& charted) {
  for (const ExperimentFigure& figure : measured_figures(charted.result))
    for (const PlannedVariant& variant : charted.result.variants)
      if (const auto mean = charted.mean_of(variant, figure);
          charted.is_shown(variant) && mean && mean->count < kFewestForInterval)
        return fmt::format(", if they are {} or more", kFewestForInterval);
  return "";
}

// "n = 5", or "n = 5 to 6" where variants have more or fewer seeds that count.
std::string seeds_text(const ExperimentResult& result) {
  Extent seeds;
  for (const PlannedVariant& variant : result.variants)
    if (const auto n = counted_runs(result, variant).size(); n > 0) seeds.add(static_cast<double>(n));
  if (seeds.is_empty()) return "n = 0";
  return seeds.low == seeds.high ? fmt::format("n = {}", seeds.low)
                                 : fmt::format("n = {} to {}", seeds.low, seeds.high);
}

std::string means_caption(const ExperimentResult& result) {
  const bool has_line = has_line_of_conditions(result.experiment);
  return fmt::format("{}eans over seeds ({}) with 95 % intervals{}{}; {} runs of {} steps{}. {}",
                     has_line ? "M" : "Coloured: m", seeds_text(result),
                     left_out_text({result, Shown::Values}), has_line ? "" : "; black: each seed",
                     result.runs.size(), integer_text(result.steps),
                     any_diverged(result) ? "" : ", of which none diverged",
                     sink_caption(result.sink_floor, largest_sink(result)));
}

std::string differences_caption(const ExperimentResult& result) {
  ShownIntervals intervals(result.experiment.looks);
  Extent pairs;
  for (const ExperimentFigure& figure : measured_figures(result)) {
    for (const PlannedVariant& variant : result.variants) {
      if (!figure.is_compared || !is_compared(result, variant)) continue;
      const DifferenceAtLook planned = planned_difference(result, variant, figure.value);
      intervals.add(planned);
      if (planned.difference) pairs.add(static_cast<double>(planned.difference->count));
    }
  }
  const std::string n = pairs.is_empty()          ? ""
                        : pairs.low == pairs.high ? fmt::format(" (n = {})", pairs.low)
                                                  : fmt::format(" (n = {} to {})", pairs.low, pairs.high);
  return fmt::format("Differences of pairs of seeds{}, {}{}. Below 0: lower than what it is compared with.",
                     n, intervals.text(),
                     intervals.has_any() ? left_out_text({result, Shown::Differences}) : "");
}

}  // namespace

bool spans_magnitudes(const Extent& means) {
  constexpr double kMostOnLinear = 30;
  return !means.is_empty() && means.low > 0 && means.high > kMostOnLinear * means.low;
}

Interval drawn_interval(const std::optional<MeanInterval>& mean) {
  // The interval of two seeds reaches six times as far as they are apart, either way: it would flatten all
  // the others.
  if (!mean || mean->count < kFewestForInterval) return {std::nan(""), std::nan("")};
  return around(*mean);
}

ChartAxis sink_axis(double uniform, double largest) {
  ChartAxis axis{.label = "sink", .at_least = {.low = 0, .high = 0}};
  if (uniform > 0) axis.levels.push_back({uniform, {1.5, 3}});
  if (uniform > 0 && is_near_sinks(uniform, largest))
    axis.levels.push_back({kSinkTimesUniform * uniform, {7, 3}});
  return axis;
}

std::string sink_caption(double uniform, double largest) {
  return fmt::format(
      "Uniform attention puts {:.3f} on the first token (dotted line); {} times as much counts "
      "as a sink ({}).",
      uniform, kSinkTimesUniform, is_near_sinks(uniform, largest) ? "dashed line" : "far above all of these");
}

ReportFigure experiment_figure(const ExperimentResult& result) {
  Panels panels = panels_of({result, Shown::Values});
  panels.caption = {means_caption(result)};
  if (has_line_of_conditions(result.experiment) && any_diverged(result))
    panels.panels.push_back(panel_of(diverged_over_conditions(result)));
  return {.stem = result.experiment.name,
          .figure = figure_of(std::move(panels)),
          .table = result.experiment.name + "-variants"};
}

ReportFigure experiment_differences_figure(const ExperimentResult& result) {
  Panels panels = panels_of({result, Shown::Differences});
  panels.caption = {differences_caption(result)};
  return {.stem = result.experiment.name + "-differences",
          .figure = figure_of(std::move(panels)),
          .table = result.experiment.name + "-differences"};
}

}  // namespace sluice
