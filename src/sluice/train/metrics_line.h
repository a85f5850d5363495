// A line of metrics.jsonl, taken apart for the files that repeat it in other forms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

enum class MetricsKind { Step, Validation };

struct Metric {
  std::string name;
  std::string text;  // as metrics.jsonl spells it; empty for null, which is how JSON has a NaN
  double value = 0;  // NaN for null
};

struct MetricsLine {
  MetricsKind kind = MetricsKind::Step;
  int64_t step = 0;
  std::vector<Metric> figures;  // in the line's order, without the step; texts and lists are left out
};

// The line is the run's own, or was checked by the caller.
MetricsLine read_metrics_line(std::string_view line);

// Every line of a metrics.jsonl.
std::vector<MetricsLine> read_metrics_lines(std::string_view text);

}  // namespace sluice
