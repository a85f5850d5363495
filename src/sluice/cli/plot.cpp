#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/error.h"
#include "sluice/cli/commands.h"
#include "sluice/plot/training_curves.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Beyond, no eye can follow.
constexpr size_t kMostRuns = 50;

struct Request {
  std::vector<std::string> runs;
  std::string out = "curves.svg";
  std::string over = "step";
};

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

Progression progression(const std::string& over) {
  if (over == "tokens") return Progression::Tokens;
  return over == "seconds" ? Progression::Seconds : Progression::Steps;
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

ordered_json json_of(const Request& request, const TrainingCurves& curves) {
  ordered_json panels = {json_of(curves.loss)};
  for (const LineChart& chart : curves.details) panels.push_back(json_of(chart));
  return {{"out", request.out}, {"x", request.over}, {"panels", panels}};
}

void run(const Request& request, const Session& session) {
  figure_format(request.out);  // before anything is read
  if (request.runs.size() > kMostRuns) {
    throw usage_error({.where = "RUN",
                       .what = "too many runs for one figure",
                       .expected = fmt::format("at most {}", kMostRuns),
                       .got = std::to_string(request.runs.size())});
  }
  std::vector<LabelledRun> runs;
  size_t steps = 0;
  for (const std::string& path : request.runs) {
    runs.push_back(read_run(path, label_of(path, request.runs)));
    steps += runs.back().metrics.steps.size();
  }
  const TrainingCurves curves = training_curves(runs, progression(request.over));
  write_figure(request.out, training_figure(curves));
  if (session.options.json) {
    session.out << json_of(request, curves).dump(2, ' ', false, ordered_json::error_handler_t::replace)
                << '\n';
  } else {
    session.out << fmt::format("{}: {} {}, {} steps\n", request.out, runs.size(),
                               runs.size() == 1 ? "run" : "runs", steps);
  }
}

Action declare_plot(Options& options) {
  auto request = std::make_shared<Request>();
  options.arguments({.name = "RUN", .value = "", .text = "Directories of runs; one may still be training"},
                    Presence::Required, request->runs);
  options.text({.name = "--out", .value = "FILE", .text = "The figure, .svg or .png (default: curves.svg)"},
               request->out);
  options.choice({.name = "--x",
                  .value = "AXIS",
                  .text = "What the curves go over: step, tokens or seconds (default: step)",
                  .words = {"step", "tokens", "seconds"}},
                 request->over);
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command plot_command() {
  return {
      .name = "plot",
      .summary = "Draw the training curves of runs",
      .description =
          "Draws the losses of one or several runs, and beside them attention sink, massive activation and "
          "mean gate at each validation, from the metrics.jsonl in their directories. Works while they "
          "train.",
      .examples = {"sluice plot run", "sluice plot runs/baseline runs/gated --x tokens --out curves.png"},
      .declare = declare_plot};
}

}  // namespace sluice::cli
