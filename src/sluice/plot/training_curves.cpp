#include "sluice/plot/training_curves.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sluice/plot/text_width.h"

namespace sluice {
namespace {

constexpr Color kGrey{95, 95, 95};
constexpr double kWidth = 680, kMargin = 12, kSpace = 16;
constexpr double kCaptionRow = 14;
constexpr double kLossHeight = 280, kDetailHeight = 190;

std::string label_of(Progression over) {
  return over == Progression::Seconds ? "time (s)" : name_of(over);
}

bool has_values(const std::vector<Series>& series) {
  return std::ranges::any_of(series, [](const Series& each) {
    return std::ranges::any_of(each.y, [](double value) { return std::isfinite(value); });
  });
}

LineChart loss_chart(std::span<const LabelledRuns> groups, Progression over) {
  LineChart chart{.title = "Loss (nats per token)", .legend = LegendPlace::None};
  // Light lines first: nothing of the others is hidden below them. Around a mean there is a band instead.
  for (size_t i = 0; i < groups.size(); ++i)
    if (groups[i].runs.size() == 1) chart.series.push_back(raw_loss(groups[i], style_number(i), over));
  for (size_t i = 0; i < groups.size(); ++i)
    chart.series.push_back(median_loss(groups[i], style_number(i), over));
  for (size_t i = 0; i < groups.size(); ++i) {
    SeriesStyle style = style_number(i);
    style.width = 0;
    chart.series.push_back(validation_series(groups[i], style, over, &Validation::loss));
    chart.series.back().name = groups[i].label + ": validation loss";
    chart.series.back().low = chart.series.back().high = {};  // one band is enough
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

LineChart detail_chart(std::span<const LabelledRuns> groups, Progression over, const Detail& detail) {
  LineChart chart{.title = detail.title, .legend = LegendPlace::None};
  for (size_t i = 0; i < groups.size(); ++i) {
    chart.series.push_back(validation_series(
        groups[i], style_number(i), over, [&](const Validation& each) { return detail.value(each.pulse); }));
  }
  return chart;
}

std::vector<const ValidationMetrics*> validations_of(std::span<const LabelledRuns> groups) {
  std::vector<const ValidationMetrics*> validations;
  for (const LabelledRuns& group : groups)
    for (const RunMetrics& run : group.runs)
      for (const ValidationMetrics& each : run.validations) validations.push_back(&each);
  return validations;
}

SeriesStyle floor_style() {
  return {.color = kGrey, .width = 1.2, .dashes = {3, 3}};
}

// What uniform attention would give depends on the sequences' length alone: runs that share it share a line.
void add_floors(std::span<const LabelledRuns> groups, const Extent& whole, LineChart& chart) {
  std::set<double> values;
  for (const ValidationMetrics* each : validations_of(groups))
    if (std::isfinite(each->validation.pulse.sink_floor)) values.insert(each->validation.pulse.sink_floor);
  for (const double value : values) {
    chart.series.push_back({.name = "uniform attention",
                            .x = {whole.low, whole.high},
                            .y = {value, value},
                            .style = floor_style()});
  }
}

// "; n = 32 sequences of 128 tokens" if all validations were on as much, or nothing.
std::string validation_size(std::span<const LabelledRuns> groups) {
  std::set<std::pair<int64_t, int64_t>> sizes;
  for (const ValidationMetrics* each : validations_of(groups))
    sizes.emplace(each->validation.sequences, each->validation.length);
  if (sizes.size() != 1 || sizes.begin()->first == 0) return "";
  return fmt::format("; n = {} sequences of {} tokens", sizes.begin()->first, sizes.begin()->second);
}

double largest_loss(const LabelledRuns& group) {
  Extent losses;
  for (const RunMetrics& run : group.runs) {
    for (const StepMetrics& each : run.steps) losses.add(each.loss);
    for (const ValidationMetrics& each : run.validations) losses.add(each.validation.loss);
  }
  return losses.high;
}

// A model learns down from its first loss, so what lies far above the first of all runs is a run that broke.
double loss_limit(std::span<const LabelledRuns> groups) {
  constexpr double kRoomForSpikes = 1.5;
  Extent first;
  for (const LabelledRuns& group : groups)
    for (const RunMetrics& run : group.runs)
      if (!run.steps.empty()) first.add(run.steps.front().loss);
  return first.is_empty() ? std::numeric_limits<double>::infinity() : kRoomForSpikes * first.high;
}

// Activations have no natural height: those of broken runs are cut off where the others end.
double activation_limit(std::span<const LabelledRuns> groups, double limit) {
  constexpr double kRoom = 1.5;
  Extent sound;
  for (const LabelledRuns& group : groups) {
    if (largest_loss(group) > limit) continue;
    for (const ValidationMetrics* each : validations_of({&group, 1}))
      sound.add(each->validation.pulse.max_activation);
  }
  return sound.is_empty() ? std::numeric_limits<double>::infinity() : kRoom * sound.high;
}

// "Cut off above 10.4 (triangles): a (up to 7000), b (up to 11)."; nothing if nothing is.
std::vector<std::string> cut_caption(std::span<const LabelledRuns> groups, double limit) {
  constexpr size_t kMostNames = 3;
  std::vector<std::string> names;
  for (const LabelledRuns& group : groups)
    if (largest_loss(group) > limit)
      names.push_back(fmt::format("{} (up to {:.4g})", group.label, largest_loss(group)));
  if (names.empty()) return {};
  if (names.size() > kMostNames) {
    const size_t more = names.size() - kMostNames;
    names.resize(kMostNames);
    names.push_back(fmt::format("{} more", more));
  }
  return {fmt::format("Losses above {:.3g} are cut off (triangles): {}.", limit, fmt::join(names, ", "))};
}

// What the lines are; a figure may have single runs, means over seeds, or both.
std::string loss_caption(std::span<const LabelledRuns> groups) {
  const std::string validation = fmt::format("validation (markers{})", validation_size(groups));
  const auto is_mean = [](const LabelledRuns& group) { return group.runs.size() > 1; };
  if (std::ranges::none_of(groups, is_mean))
    return fmt::format("Loss: training by step (faint), its running median (lines), {}.", validation);
  return fmt::format("Loss: running median of training (lines), {}.", validation);
}

// "Means over 3 seeds, with bands from the lowest to the highest."; nothing if every line is one run.
std::vector<std::string> seeds_caption(std::span<const LabelledRuns> groups) {
  std::set<size_t> counts;
  bool ended_early = false;
  for (const LabelledRuns& group : groups) {
    if (group.runs.size() == 1) continue;
    counts.insert(group.runs.size());
    for (const RunMetrics& run : group.runs) ended_early |= run.steps.size() != group.runs[0].steps.size();
  }
  if (counts.empty()) return {};
  return {fmt::format("Means over {} seeds, with bands from the lowest to the highest.{}",
                      fmt::join(counts, " or "),
                      ended_early ? " Where a run has ended, over the others." : "")};
}

std::vector<std::string> caption_of(std::span<const LabelledRuns> groups, bool has_details) {
  std::vector<std::string> lines = {loss_caption(groups)};
  for (std::string& line : seeds_caption(groups)) lines.push_back(std::move(line));
  // Formatted, although it is a plain text: g++ 12 warns of the copy that a literal would become.
  if (has_details)
    lines.push_back(fmt::format(
        "Below: at each validation. Grey dashes: what uniform attention would give the first token."));
  for (std::string& line : cut_caption(groups, loss_limit(groups))) lines.push_back(std::move(line));
  return lines;
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

TrainingCurves training_curves(std::span<const LabelledRuns> groups, Progression over) {
  TrainingCurves curves{.loss = loss_chart(groups, over), .details = {}, .legend = {}, .caption = {}};
  curves.loss.x.label = label_of(over);
  curves.loss.y.at_most = loss_limit(groups);
  Extent whole;
  for (const Series& each : curves.loss.series)
    for (const double x : each.x) whole.add(x);
  for (const Detail& detail : {Detail{"Attention sink", sink_of}, Detail{"Max. activation", activation_of},
                               Detail{"Mean gate", gate_of}}) {
    LineChart chart = detail_chart(groups, over, detail);
    if (!has_values(chart.series)) continue;
    if (detail.value == sink_of) add_floors(groups, whole, chart);
    if (detail.value == activation_of) chart.y.at_most = activation_limit(groups, curves.loss.y.at_most);
    chart.x = {.label = label_of(over), .at_least = whole};
    curves.details.push_back(std::move(chart));
  }
  for (size_t i = 0; i < groups.size(); ++i) curves.legend.push_back({groups[i].label, style_number(i)});
  curves.caption = caption_of(groups, !curves.details.empty());
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
