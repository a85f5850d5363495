#include "sluice/plot/plot_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/base/error.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Beyond, no eye can follow.
constexpr size_t kMostRuns = 50;

// The directory's own name, also of "run/" and ".", behind the names of so many directories above it.
std::string name_of(const std::string& path, int above) {
  std::error_code error;
  fs::path whole = fs::absolute(path, error).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  fs::path name = whole.filename();
  for (; above > 0; --above) {
    whole = whole.parent_path();
    name = whole.filename() / name;
  }
  return name.empty() ? path : name.string();
}

// As much of the end of each path as no other has: sweeps have a seed-1 in every variant. A path that is
// given twice stays whole.
std::string label_of(const std::string& path, const std::vector<std::string>& paths) {
  constexpr int kDeepest = 8;
  for (int above = 0; above < kDeepest; ++above) {
    const std::string name = name_of(path, above);
    if (std::ranges::count_if(paths, [&](const std::string& each) { return name_of(each, above) == name; }) ==
        1)
      return name;
  }
  return path;
}

LabelledRun read_run(const std::string& path, const std::string& label) {
  std::error_code error;
  if (!fs::exists(fs::path(path) / kMetricsName, error)) {
    throw bad_input({.where = path,
                     .what = "not the directory of a run",
                     .hint = "sluice train makes one; it has a metrics.jsonl"});
  }
  return {.label = label, .metrics = read_metrics(path)};
}

ordered_json json_of(const LineChart& chart) {
  ordered_json series = ordered_json::array();
  for (const Series& each : chart.series) {
    const auto points = std::ranges::count_if(each.y, [](double value) { return std::isfinite(value); });
    series.push_back({{"name", each.name}, {"points", points}});
  }
  return {{"title", chart.title}, {"series", series}};
}

}  // namespace

PlotResult plot_runs(const PlotRequest& request) {
  figure_format(request.out);  // before anything is read
  if (request.runs.size() > kMostRuns) {
    throw usage_error({.where = "RUN",
                       .what = "too many runs for one figure",
                       .expected = fmt::format("at most {}", kMostRuns),
                       .got = std::to_string(request.runs.size())});
  }
  PlotResult result{.out = request.out, .over = request.over, .runs = request.runs.size(), .curves = {}};
  std::vector<LabelledRun> runs;
  for (const std::string& path : request.runs) {
    runs.push_back(read_run(path, label_of(path, request.runs)));
    result.steps += runs.back().metrics.steps.size();
  }
  result.curves = training_curves(runs, request.over);
  write_figure(request.out, training_figure(result.curves));
  return result;
}

ordered_json to_json(const PlotResult& result) {
  ordered_json panels = {json_of(result.curves.loss)};
  for (const LineChart& chart : result.curves.details) panels.push_back(json_of(chart));
  return {{"out", result.out}, {"x", name_of(result.over)}, {"panels", panels}};
}

std::string to_text(const PlotResult& result) {
  return fmt::format("{}: {} {}, {} steps\n", result.out, result.runs, result.runs == 1 ? "run" : "runs",
                     result.steps);
}

}  // namespace sluice
