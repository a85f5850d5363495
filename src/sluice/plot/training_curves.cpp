#include "sluice/plot/training_curves.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "sluice/plot/text_width.h"

namespace sluice {
namespace {

constexpr Color kGrey{95, 95, 95};
constexpr double kRawOpacity = 0.35, kRawWidth = 0.7;
constexpr double kWidth = 680, kMargin = 12, kSpace = 16;
constexpr double kCaptionRow = 14;
constexpr double kLossHeight = 280, kDetailHeight = 190;
// A fortieth of a run is short against what is to be seen of it; beyond 301 a median gains nothing.
constexpr size_t kMedianShare = 40, kLeastMedian = 5, kMostMedian = 301;

double progress_of(const StepMetrics& at, Progression over) {
  switch (over) {
    case Progression::Steps:
      return static_cast<double>(at.step);
    case Progression::Tokens:
      return at.tokens;
    case Progression::Seconds:
      return at.seconds;
  }
  return StepMetrics::kUnknown;
}

std::string label_of(Progression over) {
  return over == Progression::Seconds ? "time (s)" : name_of(over);
}

Series raw_loss(const LabelledRun& run, const SeriesStyle& style, Progression over) {
  Series series{.name = run.label + ": training loss"};
  series.style = {.color = with_opacity(style.color, kRawOpacity), .width = kRawWidth};
  for (const StepMetrics& each : run.metrics.steps) {
    series.x.push_back(progress_of(each, over));
    series.y.push_back(each.loss);
  }
  return series;
}

Series median_loss(const LabelledRun& run, const SeriesStyle& style, const Series& raw) {
  const size_t window = std::clamp(raw.y.size() / kMedianShare, kLeastMedian, kMostMedian);
  Series series{.name = run.label + ": running median", .x = raw.x, .y = running_median(raw.y, window)};
  series.style = {.color = style.color, .width = style.width, .dashes = style.dashes};
  return series;
}

template <typename Value>
Series validation_series(const LabelledRun& run, const SeriesStyle& style, Progression over,
                         const Value& value) {
  Series series{.name = run.label, .style = style};
  for (const ValidationMetrics& each : run.metrics.validations) {
    series.x.push_back(progress_of(each.at, over));
    series.y.push_back(std::invoke(value, each.validation));
  }
  return series;
}

bool has_values(const std::vector<Series>& series) {
  return std::ranges::any_of(series, [](const Series& each) {
    return std::ranges::any_of(each.y, [](double value) { return std::isfinite(value); });
  });
}

LineChart loss_chart(std::span<const LabelledRun> runs, Progression over) {
  LineChart chart{.title = "Loss (nats per token)", .legend = LegendPlace::None};
  // Light lines first: nothing of the others is hidden below them.
  for (size_t i = 0; i < runs.size(); ++i) chart.series.push_back(raw_loss(runs[i], style_number(i), over));
  for (size_t i = 0; i < runs.size(); ++i)
    chart.series.push_back(median_loss(runs[i], style_number(i), chart.series[i]));
  for (size_t i = 0; i < runs.size(); ++i) {
    SeriesStyle style = style_number(i);
    style.width = 0;
    chart.series.push_back(validation_series(runs[i], style, over, &Validation::loss));
    chart.series.back().name = runs[i].label + ": validation loss";
  }
  chart.empty = "no step was taken yet";
  return chart;
}

struct Detail {
  const char* title;
  double (*value)(const Pulse&);
};

double sink_of(const Pulse& pulse) {
  return pulse.sink;
}

double activation_of(const Pulse& pulse) {
  return pulse.max_activation;
}

double gate_of(const Pulse& pulse) {
  return pulse.gated ? pulse.gate_mean : std::nan("");
}

LineChart detail_chart(std::span<const LabelledRun> runs, Progression over, const Detail& detail) {
  LineChart chart{.title = detail.title, .legend = LegendPlace::None};
  for (size_t i = 0; i < runs.size(); ++i) {
    chart.series.push_back(validation_series(
        runs[i], style_number(i), over, [&](const Validation& each) { return detail.value(each.pulse); }));
  }
  return chart;
}

SeriesStyle floor_style() {
  return {.color = kGrey, .width = 1.2, .dashes = {3, 3}};
}

// What uniform attention would give depends on the sequences' length alone: runs that share it share a line.
void add_floors(std::span<const LabelledRun> runs, const Extent& whole, LineChart& chart) {
  std::set<double> values;
  for (const LabelledRun& run : runs)
    for (const ValidationMetrics& each : run.metrics.validations)
      if (std::isfinite(each.validation.pulse.sink_floor)) values.insert(each.validation.pulse.sink_floor);
  for (const double value : values) {
    chart.series.push_back({.name = "uniform attention",
                            .x = {whole.low, whole.high},
                            .y = {value, value},
                            .style = floor_style()});
  }
}

// "; n = 32 sequences of 128 tokens" if all validations were on as much, or nothing.
std::string validation_size(std::span<const LabelledRun> runs) {
  std::set<std::pair<int64_t, int64_t>> sizes;
  for (const LabelledRun& run : runs)
    for (const ValidationMetrics& each : run.metrics.validations)
      sizes.emplace(each.validation.sequences, each.validation.length);
  if (sizes.size() != 1 || sizes.begin()->first == 0) return "";
  return fmt::format("; n = {} sequences of {} tokens", sizes.begin()->first, sizes.begin()->second);
}

double largest_loss(const LabelledRun& run) {
  Extent losses;
  for (const StepMetrics& each : run.metrics.steps) losses.add(each.loss);
  for (const ValidationMetrics& each : run.metrics.validations) losses.add(each.validation.loss);
  return losses.high;
}

// A model learns down from its first loss, so what lies far above the first of all runs is a run that broke.
double loss_limit(std::span<const LabelledRun> runs) {
  constexpr double kRoomForSpikes = 1.5;
  Extent first;
  for (const LabelledRun& run : runs)
    if (!run.metrics.steps.empty()) first.add(run.metrics.steps.front().loss);
  return first.is_empty() ? std::numeric_limits<double>::infinity() : kRoomForSpikes * first.high;
}

// Activations have no natural height: those of broken runs are cut off where the others end.
double activation_limit(std::span<const LabelledRun> runs, double limit) {
  constexpr double kRoom = 1.5;
  Extent sound;
  for (const LabelledRun& run : runs) {
    if (largest_loss(run) > limit) continue;
    for (const ValidationMetrics& each : run.metrics.validations)
      sound.add(each.validation.pulse.max_activation);
  }
  return sound.is_empty() ? std::numeric_limits<double>::infinity() : kRoom * sound.high;
}

// "Cut off above 10.4 (triangles): a (up to 7000), b (up to 11)."; nothing if nothing is.
std::vector<std::string> cut_caption(std::span<const LabelledRun> runs, double limit) {
  constexpr size_t kMostNames = 3;
  std::vector<std::string> names;
  for (const LabelledRun& run : runs)
    if (largest_loss(run) > limit)
      names.push_back(fmt::format("{} (up to {:.4g})", run.label, largest_loss(run)));
  if (names.empty()) return {};
  if (names.size() > kMostNames) {
    const size_t more = names.size() - kMostNames;
    names.resize(kMostNames);
    names.push_back(fmt::format("{} more", more));
  }
  return {fmt::format("Losses above {:.3g} are cut off (triangles): {}.", limit, fmt::join(names, ", "))};
}

std::vector<std::string> caption_of(std::span<const LabelledRun> runs, bool has_details) {
  std::vector<std::string> lines = {
      fmt::format("Loss: training by step (faint), its running median (lines), validation (markers{}).",
                  validation_size(runs))};
  // Formatted, although it is a plain text: g++ 12 warns of the copy that a literal would become.
  if (has_details)
    lines.push_back(fmt::format(
        "Below: at each validation. Grey dashes: what uniform attention would give the first token."));
  for (std::string& line : cut_caption(runs, loss_limit(runs))) lines.push_back(std::move(line));
  return lines;
}

Box taken_from_top(Box& box, double height) {
  const Box taken{box.left, box.top, box.width, height};
  box.top += height;
  box.height -= height;
  return taken;
}

void draw(Canvas& canvas, Box box, const TrainingCurves& curves) {
  draw_legend(canvas, taken_from_top(box, legend_height(curves.legend, box.width)), curves.legend);
  for (const std::string& line : curves.caption) {
    const Box row = taken_from_top(box, kCaptionRow);
    const TextStyle style{.size = 10, .color = kGrey};
    canvas.text({row.left, row.bottom() - 3}, fitted(line, style, row.width), style);
  }
  taken_from_top(box, kSpace);
  draw_line_chart(canvas, taken_from_top(box, kLossHeight), curves.loss);
  if (curves.details.empty()) return;
  taken_from_top(box, kSpace);
  const double count = static_cast<double>(curves.details.size());
  box.width = (box.width - (count - 1) * kSpace) / count;
  for (const LineChart& chart : curves.details) {
    draw_line_chart(canvas, box, chart);
    box.left += box.width + kSpace;
  }
}

}  // namespace

std::vector<double> running_median(const std::vector<double>& values, size_t window) {
  std::vector<double> result, around;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t half = window / 2;
    around.clear();
    for (size_t j = i - std::min(i, half); j <= std::min(i + half, values.size() - 1); ++j)
      if (std::isfinite(values[j])) around.push_back(values[j]);
    const auto middle = around.begin() + static_cast<ptrdiff_t>(around.size() / 2);
    std::nth_element(around.begin(), middle, around.end());
    result.push_back(around.empty() ? std::nan("") : *middle);
  }
  return result;
}

std::string name_of(Progression over) {
  switch (over) {
    case Progression::Steps:
      return "step";
    case Progression::Tokens:
      return "tokens";
    case Progression::Seconds:
      return "seconds";
  }
  return "";
}

TrainingCurves training_curves(std::span<const LabelledRun> runs, Progression over) {
  TrainingCurves curves{.loss = loss_chart(runs, over), .details = {}, .legend = {}, .caption = {}};
  curves.loss.x.label = label_of(over);
  curves.loss.y.at_most = loss_limit(runs);
  Extent whole;
  for (const Series& each : curves.loss.series)
    for (const double x : each.x) whole.add(x);
  for (const Detail& detail : {Detail{"Attention sink", sink_of}, Detail{"Max. activation", activation_of},
                               Detail{"Mean gate", gate_of}}) {
    LineChart chart = detail_chart(runs, over, detail);
    if (!has_values(chart.series)) continue;
    if (detail.value == sink_of) add_floors(runs, whole, chart);
    if (detail.value == activation_of) chart.y.at_most = activation_limit(runs, curves.loss.y.at_most);
    chart.x = {.label = label_of(over), .at_least = whole};
    curves.details.push_back(std::move(chart));
  }
  for (size_t i = 0; i < runs.size(); ++i) curves.legend.push_back({runs[i].label, style_number(i)});
  curves.caption = caption_of(runs, !curves.details.empty());
  return curves;
}

Figure training_figure(TrainingCurves curves) {
  const double inner = kWidth - 2 * kMargin;
  const double details = curves.details.empty() ? 0 : kSpace + kDetailHeight;
  const double height = 2 * kMargin + legend_height(curves.legend, inner) +
                        static_cast<double>(curves.caption.size()) * kCaptionRow + kSpace + kLossHeight +
                        details;
  std::vector<std::string> names;
  for (const LegendEntry& entry : curves.legend) names.push_back(entry.name);
  return {.width = kWidth,
          .height = height,
          .title = fmt::format("Training curves of {}", fmt::join(names, ", ")),
          .draw = [=, curves = std::move(curves)](Canvas& canvas) {
            draw(canvas, {kMargin, kMargin, inner, height - 2 * kMargin}, curves);
          }};
}

}  // namespace sluice
