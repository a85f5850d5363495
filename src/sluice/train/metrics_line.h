// A line of metrics.jsonl, taken apart for the files that repeat it in other forms.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
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

MetricsLine metrics_line(const nlohmann::ordered_json& object);

// Every line of a metrics.jsonl, which is the run's own or was checked by the caller.
std::vector<MetricsLine> read_metrics_lines(std::string_view text);

}  // namespace sluice
