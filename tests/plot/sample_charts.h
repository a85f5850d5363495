// A chart of every kind, for models of any number of layers and heads: what layout and image tests draw.
#pragma once

#include <string>
#include <vector>

#include "sluice/plot/figure.h"
#include "sluice/plot/panel.h"

namespace sluice {

struct SampleModel {
  size_t layers = 6, heads = 8;
};

struct SampleChart {
  std::string name;
  Panel (*make)(SampleModel model);
};

// One of each kind but panels.
const std::vector<SampleChart>& sample_charts();

// Four attention maps over `tokens` tokens with one bar and a caption.
Figure sample_panels(size_t tokens);

// Values that look random and are the same everywhere, from 0 to 1.
double sample_value(size_t index);

}  // namespace sluice
