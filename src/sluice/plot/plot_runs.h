// Drawing the training curves of runs from their directories, finished or in the middle of training.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sluice/plot/training_curves.h"

namespace sluice {

struct PlotRequest {
  std::vector<std::string> runs;   // their directories, or those of sweeps
  std::string out = "curves.svg";  // .svg or .png
  Progression over = Progression::Steps;
};

struct PlotResult {
  std::string out;
  Progression over = Progression::Steps;
  size_t runs = 0, steps = 0;  // steps of all runs together
  TrainingCurves curves;
};

// The seeds of a sweep's variant are drawn as one line. A usage error if there are too many to tell apart or
// the figure's format is not known, bad input if a directory holds no run.
PlotResult plot_runs(const PlotRequest& request);

nlohmann::ordered_json to_json(const PlotResult& result);
std::string to_text(const PlotResult& result);

}  // namespace sluice
