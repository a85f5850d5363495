// What runs measured at each of their validations: the numbers behind training curves.
#pragma once

#include <span>
#include <string>

#include "sluice/report/table.h"
#include "sluice/train/metrics.h"

namespace sluice {

struct SeededRun {
  std::string label;  // of the variant or model
  int seed = 0;
  RunMetrics metrics = {};
};

Table validations_table(std::span<const SeededRun> runs);

}  // namespace sluice
