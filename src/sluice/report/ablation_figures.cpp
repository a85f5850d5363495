#include "sluice/report/ablation_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "sluice/plot/panels.h"
#include "sluice/plot/scatter.h"
#include "sluice/report/ablation_tables.h"
#include "sluice/report/figure_parts.h"

namespace sluice {
namespace {

// "all but the name" where there is one text alone.
std::string text_name(const AblatedModel& model, const AblatedText& text) {
  return model.texts.size() == 1 ? "" : text.name;
}

std::vector<size_t> runs_of(const AblatedModel& model, std::string_view group, std::string_view action = "") {
  std::vector<size_t> runs;
  for (size_t i = 0; i < model.plan.runs.size(); ++i)
    if (model.plan.runs[i].group == group && (action.empty() || model.plan.runs[i].action == action))
      runs.push_back(i);
  return runs;
}

// A bar per run and text of one of their figures.
BarChart run_bars(const AblatedModel& model, const std::vector<size_t>& runs, Estimate RunEffect::*figure) {
  BarChart chart;
  for (const size_t run : runs) chart.x.names.push_back(model.plan.runs[run].name);
  for (const AblatedText& text : model.texts) {
    BarGroup& group = chart.groups.emplace_back(BarGroup{.name = text_name(model, text)});
    for (const size_t run : runs) add_bar(group, text.effects[run].*figure);
  }
  return chart;
}

double number_of(const std::string& text) {
  double value = kNoValue;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

void add_bar(BarGroup& group, const Estimate& figure) {
  group.values.push_back(figure.value);
  group.low.push_back(figure.ci95 ? figure.ci95->low : kNoValue);
  group.high.push_back(figure.ci95 ? figure.ci95->high : kNoValue);
}

std::string panel_title(const std::string& what, size_t texts, const std::string& text) {
  return texts == 1 ? what : fmt::format("{}, on {}", what, text);
}

Extent extent_of(const std::optional<Interval>& interval) {
  return interval ? Extent{interval->low, interval->high} : Extent{kNoValue, kNoValue};
}

std::string counted(const AblatedModel& model, const AblatedText& text, const std::vector<size_t>& runs) {
  int64_t least = text.chunks, most = 0;
  const auto count = [&](size_t run) {
    least = std::min(least, text.effects[run].chunks);
    most = std::max(most, text.effects[run].chunks);
  };
  for (const size_t run : runs) count(run);
  for (size_t run = 0; runs.empty() && run < text.effects.size(); ++run) count(run);
  return fmt::format("{}: {}{} of {} chunks of {} tokens of {}.", model.name,
                     least < most ? fmt::format("{} to ", least) : "", most, text.chunks, text.chunk_length,
                     text.name);
}

std::vector<std::string> counted(const AblatedModel& model, const std::vector<size_t>& runs,
                                 const char* further) {
  std::vector<std::string> caption;
  for (const AblatedText& text : model.texts) caption.push_back(counted(model, text, runs));
  if (further[0] != '\0') caption.emplace_back(further);
  return caption;
}

std::string layers_stem(const AblatedModel& model, const std::string& action) {
  return model.gated ? "layer_ablation_gates_" + action : "layer_ablation_attention_" + action;
}

std::optional<ReportFigure> constants_figure(const AblatedModel& model) {
  const std::vector<size_t> runs = runs_of(model, "constants");
  if (runs.empty()) return {};
  LineChart chart{.title = model.gated ? "every gate at one value" : "attention's output scaled",
                  .x = {.label = model.gated ? "value of all gates" : "factor"},
                  .y = {.label = "perplexity", .scale = AxisScale::Log}};
  for (const AblatedText& text : model.texts) {
    Series series{.name = text.name, .style = style_number(chart.series.size())};
    series.style.marker = Marker::Disc;
    Series learned{.name = text.name + ", unbroken", .style = style_number(chart.series.size() + 1)};
    for (const size_t run : runs) {
      const RunEffect& effect = text.effects[run];
      const double value = number_of(model.plan.runs[run].action);
      // What the broken model would have on the chunks that the unbroken one has seen.
      series.x.push_back(value);
      series.y.push_back(text.base.ppl * effect.ppl_ratio.value);
      series.low.push_back(effect.ppl_ratio.ci95 ? text.base.ppl * effect.ppl_ratio.ci95->low : kNoValue);
      series.high.push_back(effect.ppl_ratio.ci95 ? text.base.ppl * effect.ppl_ratio.ci95->high : kNoValue);
      learned.x.push_back(value);
      learned.y.push_back(text.base.ppl);
    }
    chart.series.push_back(std::move(series));
    chart.series.push_back(std::move(learned));
  }
  return ReportFigure{
      named_for(model, "progressive_gate_sweep"),
      figure_of(panel_of(std::move(chart), 640, 400),
                counted(model, runs, "Bands: 95 % intervals of the ratio to the unbroken model.")),
      "Perplexity with a constant in the place of every gate.", named_for(model, "runs")};
}

std::optional<ReportFigure> layers_figure(const AblatedModel& model, const std::string& action) {
  if (effect_profile(model, model.texts.front(), "layers", action).is_empty()) return {};
  BarChart chart{
      .title = fmt::format("each layer {}", action), .x = {.label = "layer"}, .y = {.label = kNllLabel}};
  for (const AblatedText& text : model.texts) {
    std::map<int64_t, std::vector<size_t>> draws;
    for (const size_t run : runs_of(model, "layers", action))
      if (model.plan.runs[run].layer) draws[*model.plan.runs[run].layer].push_back(run);
    BarGroup& group = chart.groups.emplace_back(BarGroup{.name = text_name(model, text)});
    chart.x.names.clear();
    for (const auto& [layer, runs] : draws) {
      chart.x.names.push_back(std::to_string(layer));
      add_bar(group, mean_of_draws(text, runs));
    }
  }
  return ReportFigure{
      named_for(model, layers_stem(model, action).c_str()),
      figure_of(panel_of(std::move(chart)), counted(model, runs_of(model, "layers", action), kWhiskers)),
      fmt::format("What it does to have one layer {}.", action), named_for(model, "layers")};
}

std::optional<ReportFigure> heads_figure(const AblatedModel& model, const std::string& action) {
  std::vector<HeatMap> maps;
  std::vector<std::string> caption;
  for (const AblatedText& text : model.texts) {
    const EffectProfile profile = effect_profile(model, text, "heads", action);
    if (profile.is_empty()) return {};
    caption.push_back(fmt::format("{}: the {} chunks of {} tokens of {} that all heads have seen.",
                                  model.name, profile.chunks, text.chunk_length, text.name));
    std::set<int64_t> layers;
    for (const PlaceEffect& place : profile.places) layers.insert(place.layer);
    HeatMap map{.title = text_name(model, text),
                .rows = layers.size(),
                .columns = static_cast<size_t>(model.heads),
                .x = {.label = "head"},
                .y = {.label = "layer"},
                .color = {.label = kNllLabel, .map = ColorMap::Diverging},
                .decimals = 3};
    map.values.assign(map.rows * map.columns, kNoValue);
    map.framed.assign(map.rows * map.columns, false);
    for (const int64_t layer : layers) map.y.names.push_back(std::to_string(layer));
    for (const PlaceEffect& place : profile.places) {
      const auto row = static_cast<size_t>(std::distance(layers.begin(), layers.find(place.layer)));
      const size_t cell = row * map.columns + static_cast<size_t>(*place.head);
      map.values[cell] = place.nll;
      map.framed[cell] = place.verdict == RunVerdict::Worse || place.verdict == RunVerdict::Better;
    }
    maps.push_back(std::move(map));
  }
  caption.emplace_back(
      "Framed: decided to be worse or better. The others are equivalent or undecided; the table has every "
      "interval.");
  Panels panels{.columns = 1, .caption = std::move(caption)};
  for (HeatMap& map : maps) panels.panels.push_back(panel_of(std::move(map)));
  const std::string stem = action == "closed" || action == "zeroed" ? "head_ablation_top_layers"
                                                                    : "head_ablation_top_layers_" + action;
  return ReportFigure{named_for(model, stem.c_str()), figure_of(std::move(panels)),
                      fmt::format("What it does to have one head {}.", action), named_for(model, "heads")};
}

std::optional<ReportFigure> cumulative_figure(const AblatedModel& model) {
  LineChart chart{.title = "more and more of it",
                  .x = {.label = "layers or heads", .ticks = TickValues::Whole},
                  .y = {.label = kNllLabel}};
  for (const AblatedText& text : model.texts) {
    std::map<std::string, Series> lines;
    for (const size_t run : runs_of(model, "cumulative")) {
      const PlannedRun& planned = model.plan.runs[run];
      const bool heads = planned.name.starts_with("first ");  // "first 4 heads closed"
      const double count = heads ? number_of(planned.name.substr(6)) : kNoValue;
      Series& line = lines[panel_title(fmt::format("{} {}", heads ? "heads" : "layers", planned.action),
                                       model.texts.size(), text.name)];
      const Estimate& nll = text.effects[run].nll;
      line.x.push_back(std::isfinite(count) ? count : static_cast<double>(line.x.size() + 1));
      line.y.push_back(nll.value);
      line.low.push_back(nll.ci95 ? nll.ci95->low : kNoValue);
      line.high.push_back(nll.ci95 ? nll.ci95->high : kNoValue);
    }
    for (auto& [name, line] : lines) {
      line.name = name;
      line.style = style_number(chart.series.size());
      line.style.marker = Marker::Disc;
      chart.series.push_back(std::move(line));
    }
  }
  if (chart.series.empty()) return {};
  return ReportFigure{
      named_for(model, "cumulative"),
      figure_of(panel_of(std::move(chart), 640, 380),
                counted(model, runs_of(model, "cumulative"),
                        "Bands: 95 % intervals of each run on its own chunks.")),
      "The first layer, the first two, and so on; heads in the order of what closing each does.",
      named_for(model, "runs")};
}

std::optional<ReportFigure> parts_figure(const AblatedModel& model) {
  Panels panels{.columns = 2};
  std::vector<size_t> all;
  for (const char* group : {"depth", "positions", "global"}) {
    const std::vector<size_t> runs = runs_of(model, group);
    if (runs.empty()) continue;
    all.insert(all.end(), runs.begin(), runs.end());
    BarChart chart = run_bars(model, runs, &RunEffect::nll);
    chart.title = group;
    chart.y.label = kNllLabel;
    panels.panels.push_back(panel_of(std::move(chart)));
  }
  if (panels.panels.empty()) return {};
  panels.caption = counted(model, all, kWhiskers);
  return ReportFigure{named_for(model, "parts"), figure_of(std::move(panels)),
                      "All of it, thirds of the depth, and the first token against the others.",
                      named_for(model, "runs")};
}

std::optional<ReportFigure> signs_figure(const AblatedModel& model) {
  std::vector<size_t> runs = runs_of(model, "global");
  std::vector<size_t> layers = runs_of(model, "layers", "open");
  if (layers.empty()) layers = runs_of(model, "layers", removal_of(model));
  runs.insert(runs.end(), layers.begin(), layers.end());
  if (runs.empty()) return {};
  BarChart sinks = run_bars(model, runs, &RunEffect::sink);
  sinks.title = "attention on the first token";
  sinks.y.label = "change of the mean probability";
  BarChart sizes = run_bars(model, runs, &RunEffect::activation);
  sizes.title = "largest activation, mean over layers";
  sizes.y.label = "change of the largest |block output|";
  Panels panels{.columns = 1, .caption = counted(model, runs, kWhiskers)};
  panels.panels = {panel_of(std::move(sinks)), panel_of(std::move(sizes))};
  return ReportFigure{named_for(model, "sink_and_activation"), figure_of(std::move(panels)),
                      "Does breaking bring the sink back?", named_for(model, "runs")};
}

}  // namespace sluice
