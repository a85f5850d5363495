// Points of two quantities, their distributions at the edges, a fitted line, names of the points that stand
// out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/plot/chart_frame.h"
#include "sluice/plot/panel.h"

namespace sluice {

struct ScatterGroup {
  std::string name = {};               // empty: not in the legend
  std::vector<double> x = {}, y = {};  // as many of each; what is not finite is left out
  // Per point, or empty; an empty name is none. Earlier points go first: a name that would lie on another is
  // left out.
  std::vector<std::string> labels = {};
  // Intervals of a point's x and y: as many as points, or empty. What is not finite has none.
  std::vector<Extent> across = {}, upwards = {};
};

// y = intercept + slope * x; on a logarithmic axis of its logarithm to base 10.
struct FitLine {
  double intercept = 0, slope = 0;
  std::string name = {};  // for the legend; empty: none
};

enum class Marginals { None, Both };

struct Scatter {
  std::string title = {};
  ChartAxis x = {}, y = {};
  std::vector<ScatterGroup> groups = {};
  std::optional<FitLine> fit = {};
  Marginals marginals = Marginals::Both;
  LegendPlace legend = LegendPlace::Above;
  std::string empty = "no data";
};

// The box holds all of it, labels and title too.
void draw_scatter(Canvas& canvas, const Box& box, const Scatter& scatter);

Panel panel_of(Scatter scatter);

}  // namespace sluice
