// What the figures of a look share: captions, axes of layers and heads, distributions as charts take them.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "sluice/analysis/study.h"
#include "sluice/plot/box_chart.h"
#include "sluice/plot/density.h"
#include "sluice/plot/heat_map.h"
#include "sluice/plot/line_chart.h"
#include "sluice/report/report.h"

namespace sluice {

// What every caption ends with: the model and n.
std::string counted(const StudiedModel& model);
std::string counted(const StudiedModel& model, const GateMeasure& gate);

// The name of a file: "MODEL_what"; of a gate that is not at g1 "MODEL_g2_what".
std::string named_for(const StudiedModel& model, const char* what);
std::string named_for(const StudiedModel& model, const GateMeasure& gate, const char* what);

BinnedCounts bins_of(const Distribution& values);
BoxSummary box_of(const Distribution& values);

// Tokens as they are written beside a map; a model without a tokenizer has numbers.
std::vector<std::string> token_names(const PromptMap& map);

Panel panel_of(LineChart chart, double width, double height);

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// Of shares and probabilities.
inline constexpr Extent kUnitExtent{.low = 0, .high = 1};

template <class Layers>
CategoryAxis layer_axis(const Layers& layers) {
  CategoryAxis axis{.label = "layer"};
  for (const auto& layer : layers) axis.names.push_back(std::to_string(layer.layer));
  return axis;
}

template <class Layers, class Value>
std::vector<double> by_layer(const Layers& layers, Value value) {
  std::vector<double> values;
  for (const auto& layer : layers) values.push_back(value(layer));
  return values;
}

// The first layer at the top, heads beside each other.
template <class Layers, class Value>
HeatMap head_map(const Layers& layers, size_t heads, Value value) {
  HeatMap map{.rows = layers.size(), .columns = heads, .x = {.label = "head"}, .y = layer_axis(layers)};
  for (const auto& layer : layers)
    for (size_t h = 0; h < heads; ++h) map.values.push_back(value(layer, h));
  return map;
}

}  // namespace sluice
