#include "tests/plot/sample_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/plot/bar_chart.h"
#include "sluice/plot/box_chart.h"
#include "sluice/plot/heat_map.h"
#include "sluice/plot/histogram.h"
#include "sluice/plot/line_chart.h"
#include "sluice/plot/panels.h"
#include "sluice/plot/ridge_chart.h"
#include "sluice/plot/scatter.h"
#include "sluice/plot/token_strip.h"

namespace sluice {
namespace {

constexpr const char* kWords[] = {"The",    " capital", " of",           " France", " is",
                                  " Paris", ",",        " and",          "\n",      " Donau",
                                  "dampf",  "schiff",   "<|endoftext|>", " 42",     "."};

double wave(size_t index, double length) {
  return 0.5 + 0.5 * std::sin(static_cast<double>(index) / length);
}

Panel sample_heat_map(SampleModel model) {
  HeatMap map{.title = "Mean gate by layer and head",
              .rows = model.layers,
              .columns = model.heads,
              .x = {.label = "head"},
              .y = {.label = "layer"},
              .color = {.label = "mean gate (0 closed, 1 open)"}};
  for (size_t i = 0; i < model.layers * model.heads; ++i)
    map.values.push_back(i % 37 == 5 ? std::nan("") : wave(i / model.heads, 5) * sample_value(i));
  return panel_of(map);
}

Panel sample_diverging_map(SampleModel model) {
  HeatMap map{.title = "Difference of mean gates, code minus prose",
              .rows = model.layers,
              .columns = model.heads,
              .x = {.label = "token"},
              .y = {.label = "layer"},
              .color = {.label = "difference", .map = ColorMap::Diverging},
              .numbers = CellNumbers::None};
  for (size_t i = 0; i < model.heads; ++i) map.x.names.push_back(fmt::format("{}{}", kWords[i % 15], i));
  for (size_t i = 0; i < model.layers * model.heads; ++i) map.values.push_back(sample_value(i) - 0.4);
  return panel_of(map);
}

Panel sample_bars(SampleModel model) {
  BarChart chart{.title = "Gate of the first token and of the others, by layer",
                 .x = {.label = "layer"},
                 .y = {.label = "mean gate"}};
  for (size_t group = 0; group < std::min<size_t>(model.heads, 3); ++group) {
    BarGroup bars{.name = fmt::format("group {}", group)};
    for (size_t i = 0; i < model.layers; ++i) {
      const double value = sample_value(i + 100 * group) - 0.2;
      bars.values.push_back(value);
      bars.low.push_back(value - 0.05);
      bars.high.push_back(value + 0.08);
    }
    chart.groups.push_back(bars);
  }
  return panel_of(chart);
}

Panel sample_word_bars(SampleModel model) {
  BarChart chart{.title = "Perplexity by kind of text",
                 .x = {.names = {"factual", "technical", "conversational", "repetitive", "code-like"}},
                 .y = {.label = "perplexity", .scale = AxisScale::Log}};
  for (size_t group = 0; group < model.heads; ++group) {
    BarGroup bars{.name = fmt::format("model {}", group)};
    for (size_t i = 0; i < 5; ++i) bars.values.push_back(std::pow(10, 3 * sample_value(5 * group + i)));
    chart.groups.push_back(bars);
  }
  return panel_of(chart);
}

BoxSummary sample_box(size_t index) {
  const double median = 0.2 + 0.6 * sample_value(index), spread = 0.05 + 0.1 * sample_value(index + 7);
  return {.low = median - 1.5 * spread,
          .lower = median - spread,
          .median = median,
          .upper = median + 0.7 * spread,
          .high = median + 2 * spread,
          .mean = median + 0.2 * spread};
}

Panel sample_boxes(SampleModel model) {
  BoxChart chart{.title = "Gates by layer", .x = {.label = "layer"}, .y = {.label = "gate"}};
  for (size_t group = 0; group < std::min<size_t>(model.heads, 2); ++group) {
    BoxGroup boxes{.name = group == 0 ? "headwise" : "elementwise"};
    for (size_t i = 0; i < model.layers; ++i) boxes.boxes.push_back(sample_box(i + 31 * group));
    chart.groups.push_back(boxes);
  }
  return panel_of(chart);
}

BinnedCounts sample_bins(size_t bins, double peak) {
  BinnedCounts result;
  for (size_t i = 0; i <= bins; ++i)
    result.edges.push_back(static_cast<double>(i) / static_cast<double>(bins));
  for (size_t i = 0; i < bins; ++i) {
    const double x = (result.edges[i] + result.edges[i + 1]) / 2, off = (x - peak) / 0.15;
    result.counts.push_back(1000 * std::exp(-off * off) + 300 * std::exp(-x / 0.05));
  }
  return result;
}

Panel sample_histogram(SampleModel model) {
  return panel_of(Histogram{.title = "Distribution of gates",
                            .x = {.label = "gate"},
                            .bins = sample_bins(std::max<size_t>(model.heads, 2), 0.6),
                            .marks = {{0.42, "mean 0.42"}, {0.47, "median 0.47"}, {0.05, "5% 0.05"}}});
}

Panel sample_log_histogram(SampleModel model) {
  return panel_of(Histogram{.title = "Distribution of gates, logarithmic",
                            .x = {.label = "gate"},
                            .y = {.label = "density", .scale = AxisScale::Log},
                            .bins = sample_bins(model.layers, 0.3)});
}

Panel sample_ridges(SampleModel model) {
  RidgeChart chart{.title = "Gates by depth", .x = {.label = "gate"}, .y_label = "layer"};
  for (size_t i = 0; i < model.layers; ++i)
    chart.ridges.push_back({std::to_string(i), sample_bins(40, wave(i, 8))});
  return panel_of(chart);
}

Panel sample_scatter(SampleModel model) {
  Scatter scatter{.title = "Sink against gate, one point per head",
                  .x = {.label = "mean gate"},
                  .y = {.label = "attention on the first token"},
                  .fit = FitLine{.intercept = 0.8, .slope = -0.6, .name = "r = -0.61"}};
  ScatterGroup group{.name = "heads"};
  for (size_t i = 0; i < model.layers * model.heads; ++i) {
    group.x.push_back(sample_value(i));
    group.y.push_back(0.8 - 0.6 * group.x.back() + 0.3 * (sample_value(i + 5000) - 0.5));
    group.labels.push_back(i % 9 == 0 ? fmt::format("L{}H{}", i / model.heads, i % model.heads) : "");
  }
  scatter.groups = {group};
  return panel_of(scatter);
}

Panel sample_tokens(SampleModel model) {
  TokenStrip strip{.title = "A prompt, shaded by its gates", .color = {.label = "mean gate"}};
  for (size_t i = 0; i < model.layers * model.heads; ++i) {
    strip.tokens.push_back(kWords[i % std::size(kWords)]);
    strip.values.push_back(i == 3 ? std::nan("") : sample_value(i));
  }
  return panel_of(strip);
}

Panel sample_lines(SampleModel model) {
  LineChart chart{.title = "Attention sink by layer",
                  .x = {.label = "layer", .ticks = TickValues::Whole},
                  .y = {.label = "share"}};
  for (size_t line = 0; line < std::min<size_t>(model.heads, 4); ++line) {
    Series series{.name = fmt::format("model {}", line), .style = style_number(line)};
    for (size_t i = 0; i < model.layers; ++i) {
      series.x.push_back(static_cast<double>(i));
      series.y.push_back(0.1 * static_cast<double>(line) + 0.5 * wave(i + line, 6));
      series.low.push_back(series.y.back() - 0.04);
      series.high.push_back(series.y.back() + 0.06);
    }
    chart.series.push_back(series);
  }
  return panel_of(chart);
}

HeatMap attention_map(size_t tokens, size_t seed) {
  HeatMap map{.title = fmt::format("Layer {}, mean of all heads", seed),
              .rows = tokens,
              .columns = tokens,
              .x = {.label = "key"},
              .y = {.label = "query"},
              .color = {.label = "attention", .scale = AxisScale::Log},
              .numbers = CellNumbers::None,
              .shape = CellShape::Square};
  for (size_t query = 0; query < tokens; ++query)
    for (size_t key = 0; key < tokens; ++key) {
      const double weight =
          key == 0 ? 0.5
                   : sample_value(query * tokens + key + seed) / (1.0 + static_cast<double>(query - key));
      map.values.push_back(key > query ? std::nan("") : weight);
    }
  return map;
}

}  // namespace

const std::vector<SampleChart>& sample_charts() {
  static const std::vector<SampleChart> charts = {{"heat_map", sample_heat_map},
                                                  {"diverging_map", sample_diverging_map},
                                                  {"bars", sample_bars},
                                                  {"word_bars", sample_word_bars},
                                                  {"boxes", sample_boxes},
                                                  {"histogram", sample_histogram},
                                                  {"log_histogram", sample_log_histogram},
                                                  {"ridges", sample_ridges},
                                                  {"scatter", sample_scatter},
                                                  {"tokens", sample_tokens},
                                                  {"lines", sample_lines}};
  return charts;
}

Figure sample_panels(size_t tokens) {
  std::vector<HeatMap> maps;
  for (const size_t layer : {0, 9, 18, 27}) maps.push_back(attention_map(tokens, layer));
  Panels panels{.title = "Attention of a model with 28 layers", .wraps = false, .color = share_colors(maps)};
  for (HeatMap& map : maps) panels.panels.push_back(panel_of(std::move(map)));
  panels.caption = {
      fmt::format("Attention by query and key, mean of all heads, on a logarithmic scale. Hatched: later "
                  "tokens, which a query cannot see. n = {} tokens of one prompt.",
                  tokens),
      "Model: sample-model-with-a-name-that-is-as-long-as-names-of-models-get/checkpoint-0001."};
  return figure_of(std::move(panels));
}

double sample_value(size_t index) {
  uint64_t state = (index + 1) * 0x9e3779b97f4a7c15ULL;
  state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9ULL;
  state = (state ^ state >> 27) * 0x94d049bb133111ebULL;
  return static_cast<double>((state ^ state >> 31) >> 11) * 0x1p-53;
}

}  // namespace sluice
