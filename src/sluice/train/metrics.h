// What a run notes of its steps and validations: metrics.jsonl, written line by line and read back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/train/checkpoint_state.h"
#include "sluice/train/validation.h"

namespace sluice {

inline constexpr const char* kMetricsName = "metrics.jsonl";

// What curves are drawn from. NaN stands for what a line does not say.
struct StepMetrics {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  int64_t step = 0;
  double tokens = kUnknown, seconds = kUnknown;  // since the run began
  double loss = kUnknown;
};

struct ValidationMetrics {
  StepMetrics at;  // the step that it came after
  Validation validation;
};

struct RunMetrics {
  std::vector<StepMetrics> steps;
  std::vector<ValidationMetrics> validations;

  // As a run goes on: the same as reading its file afterwards.
  void add(const StepResult& result, const RunState& state);
  void add(const Validation& validation);
};

// The line of a step. That of a validation is to_json(validation).
nlohmann::ordered_json step_line(const StepResult& result, const RunState& state);

// Of a run's directory, finished or in the middle of training: the lines that are whole. A last line without
// an end is being written, or was cut off by a crash, and is left out.
std::string read_metrics_text(const std::filesystem::path& run_directory);

// The same, understood. What is no line of metrics is bad input that names the line. Keys that are not known
// here are left alone: a newer version may write more.
RunMetrics read_metrics(const std::filesystem::path& run_directory);

// A line taken apart into its numbers, for the files that repeat them in other forms.
enum class MetricsKind { Step, Validation };

struct Metric {
  std::string name;
  std::string text;  // as metrics.jsonl spells it; empty for null, which is how JSON has a NaN
  double value = 0;  // NaN for null
};

struct MetricsLine {
  MetricsKind kind = MetricsKind::Step;
  int64_t step = 0;
  std::vector<Metric> numbers;  // in the line's order, without the step; texts and lists are left out
};

MetricsLine metrics_line(const nlohmann::ordered_json& object);

// Every line of a metrics.jsonl, which is the run's own or was checked by the caller.
std::vector<MetricsLine> read_metrics_lines(std::string_view text);

}  // namespace sluice
