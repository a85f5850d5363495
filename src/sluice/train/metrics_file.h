// Reading the metrics.jsonl of a run, finished or still going on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace sluice {

// NaN stands for what a line does not say.
struct StepMetrics {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  int64_t step = 0;
  double tokens = kUnknown, seconds = kUnknown;  // since the run began
  double loss = kUnknown;
};

struct ValidationMetrics {
  StepMetrics at;  // its loss is that of the validation
  double sink = StepMetrics::kUnknown, sink_floor = StepMetrics::kUnknown;
  double max_activation = StepMetrics::kUnknown;
  double gate_mean = StepMetrics::kUnknown;
  int64_t sequences = 0, length = 0;  // what it was measured on; 0: not said
};

struct RunMetrics {
  std::vector<StepMetrics> steps;
  std::vector<ValidationMetrics> validations;
};

inline constexpr const char* kMetricsName = "metrics.jsonl";

// Its lines that are whole. A last line without an end is being written, or was cut off by a crash, and is
// left out.
std::string read_metrics_text(const std::filesystem::path& run_directory);

// Of a run's directory, as above. Anything else that is no line of metrics is bad input that names the line.
// Keys that are not known here are left alone: a newer version may write more.
RunMetrics read_metrics(const std::filesystem::path& run_directory);

}  // namespace sluice
