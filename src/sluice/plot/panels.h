// Charts in a grid, with a caption below: the figure that is written to a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/plot/color_bar.h"
#include "sluice/plot/figure.h"
#include "sluice/plot/heat_map.h"
#include "sluice/plot/legend.h"
#include "sluice/plot/panel.h"

namespace sluice {

struct Panels {
  std::string title = {};  // above all; empty: only for screen readers, from the panels' titles
  std::vector<Panel> panels = {};
  size_t columns = 2;
  bool wraps = true;                     // takes fewer columns where they would be wider than a report's page
  std::vector<LegendEntry> legend = {};  // one for all panels
  std::optional<ColorAxis> color = {};   // one bar for all panels; share_colors gives it
  std::vector<std::string> caption = {};  // paragraphs: what is drawn, n, the model; wrapped, never cut
};

Figure figure_of(Panels panels);

// One chart and its caption.
Figure figure_of(Panel panel, std::vector<std::string> caption = {});

// Gives all maps the first one's scale over the values of all, takes away their bars, and returns what
// the one bar for all shows.
ColorAxis share_colors(std::vector<HeatMap>& maps);

}  // namespace sluice
