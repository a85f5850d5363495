#include "sluice/plot/plot_runs.h"

#include "sluice/cli/commands.h"
#include "sluice/cli/use_case.h"

namespace sluice::cli {
namespace {

struct PlotOptions : PlotRequest {
  std::string axis = "step";
};

Progression progression(const std::string& axis) {
  if (axis == "tokens") return Progression::Tokens;
  return axis == "seconds" ? Progression::Seconds : Progression::Steps;
}

void run(PlotOptions request, const Session& session) {
  request.over = progression(request.axis);
  print_result(session, plot_runs(request));
}

Action declare_plot(Options& options) {
  auto request = std::make_shared<PlotOptions>();
  options.arguments({.name = "RUN",
                     .value = "",
                     .text = "Directories of runs or of sweeps, which may be in the middle of training"},
                    Presence::Required, request->runs);
  options.text({.name = "--out", .value = "FILE", .text = "The figure, .svg or .png (default: curves.svg)"},
               request->out);
  options.choice({.name = "--x",
                  .value = "AXIS",
                  .text = "What the curves go over: step, tokens or seconds (default: step)",
                  .words = {"step", "tokens", "seconds"}},
                 request->axis);
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command plot_command() {
  return {
      .name = "plot",
      .summary = "Draw the training curves of runs",
      .description =
          "Draws the losses of one or several runs, and beside them attention sink, massive activation and "
          "mean gate at each validation, from the metrics.jsonl in their directories. The seeds of a sweep's "
          "variant are one line, their mean, with a band from the lowest to the highest. Works while they "
          "train.",
      .examples = {"sluice plot run", "sluice plot runs/baseline runs/gated --x tokens --out curves.png",
                   "sluice plot sweep --out sweep.svg"},
      .declare = declare_plot};
}

}  // namespace sluice::cli
