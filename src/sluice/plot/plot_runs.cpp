#include "sluice/plot/plot_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/base/error.h"
#include "sluice/base/file_system.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Beyond, no eye can follow.
constexpr size_t kMostLines = 50;

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

bool has_metrics(const fs::path& directory) {
  std::error_code error;
  return fs::exists(directory / kMetricsName, error);
}

std::vector<fs::path> directories_in(const fs::path& path) {
  std::vector<fs::path> directories;
  std::error_code error;
  for (const std::string& name : names_in(path, error))
    if (fs::is_directory(path / name, error)) directories.push_back(path / name);
  return directories;
}

// SWEEP/VARIANT/seed-N, as run_sweep() makes them; also of a sweep that is under way.
std::vector<LabelledRuns> read_sweep(const std::string& path) {
  std::vector<LabelledRuns> variants;
  for (const fs::path& variant : directories_in(path)) {
    LabelledRuns group{.label = variant.filename().string(), .runs = {}};
    for (const fs::path& run : directories_in(variant))
      if (has_metrics(run)) group.runs.push_back(read_metrics(run));
    if (!group.runs.empty()) variants.push_back(std::move(group));
  }
  return variants;
}

// A run is one group, a sweep one for each of its variants.
std::vector<LabelledRuns> read_groups(const std::string& path, const std::vector<std::string>& paths) {
  const std::string label = label_of(path, paths);
  if (has_metrics(path)) return {{.label = label, .runs = {read_metrics(path)}}};
  std::vector<LabelledRuns> variants = read_sweep(path);
  if (variants.empty()) {
    throw bad_input({.where = path,
                     .what = "not the directory of a run or of a sweep",
                     .hint = "sluice train and sluice sweep make one; a run has a metrics.jsonl"});
  }
  if (paths.size() > 1)
    for (LabelledRuns& variant : variants) variant.label = label + "/" + variant.label;
  return variants;
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
  std::vector<LabelledRuns> groups;
  for (const std::string& path : request.runs) {
    std::vector<LabelledRuns> found = read_groups(path, request.runs);
    std::ranges::move(found, std::back_inserter(groups));
  }
  if (groups.size() > kMostLines) {
    throw usage_error({.where = "RUN",
                       .what = "too many runs for one figure",
                       .expected = fmt::format("at most {}", kMostLines),
                       .got = std::to_string(groups.size())});
  }
  PlotResult result{
      .out = request.out, .over = request.over, .curves = training_curves(groups, request.over)};
  for (const LabelledRuns& group : groups) {
    result.runs += group.runs.size();
    for (const RunMetrics& run : group.runs) result.steps += run.steps.size();
  }
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
