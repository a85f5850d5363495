#include "sluice/base/error.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/training.h"
#include "sluice/cli/training_options.h"
#include "sluice/cli/use_case.h"
#include "sluice/experiment/sweep_table.h"
#include "sluice/report/report_header.h"
#include "sluice/report/sweep_report.h"

namespace sluice::cli {
namespace {

struct SweepOptions : TrainingOptions {
  std::vector<std::string> vary;
  int seeds = 3;
  bool resume = false, join = false;
};

std::vector<GridAxis> axes_of(const SweepOptions& request, const Session& session) {
  std::vector<GridAxis> axes;
  for (const std::string& text : request.vary) {
    axes.push_back(parse_grid_axis(text, "--vary"));
    if (axes.back().key == "dtype" && !session.options.dtype.empty())
      throw usage_error({.where = "--vary dtype", .what = "does not go with --dtype"});
  }
  return axes;
}

SweepResult sweep(SweepRequest request, const Session& session) {
  Engine engine(session.options.engine());
  TrainingDisplay display(engine, session.log);
  request.publish = [&](const SweepResult& result) {
    write_sweep_report(result, request, report_header(engine, session.command_line));
  };
  return run_sweep(engine, request, training_control(session), display.sweep_observer());
}

void run(const SweepOptions& request, const Session& session) {
  request.check("sweep");
  const SweepResult result = sweep({.config = request.config,
                                    .changes = request.all_changes(session),
                                    .axes = axes_of(request, session),
                                    .seeds = request.seeds,
                                    .shards = request.open(request.data, session),
                                    .out = request.out,
                                    .tokenizer = request.tokenizer,
                                    .start = request.resume ? RunStart::ResumeOrNew : RunStart::New,
                                    .validation = request.open(request.validation, session),
                                    .sharing = {.joins = request.join || session.launch.size > 1,
                                                .job = request.join ? "" : session.launch.job}},
                                   session);
  if (!result.is_elsewhere) print_result(session, result);
  if (result.end == RunEnd::Interrupted)
    throw Error(ErrorKind::Interrupted, {.what = "the sweep was stopped", .hint = "--resume goes on"});
  if (result.is_elsewhere)
    return session.log.info("all runs have ended; another process of the sweep has the result");
  session.log.info("the report is in {0}/report.html, the runs in {0}/table.csv", request.out);
}

Action declare_sweep(Options& options) {
  auto request = std::make_shared<SweepOptions>();
  request->declare_config(options);
  options.repeated({.name = "--vary",
                    .value = "A.B=V,V",
                    .text = "Values of the configuration to go through; several: every combination"},
                   request->vary);
  options.integer({.name = "--seeds",
                   .value = "N",
                   .text = "Runs of each variant, with seeds 1 to N (default: 3)",
                   .low = 1,
                   .high = 1000},
                  request->seeds);
  request->declare(options, {.out = "Where the runs and the table go",
                             .changes = "Change a value of the configuration for all"});
  options.flag("--resume", request->resume, "Go on where the sweep in --out stopped, or with a larger one");
  options.flag(
      "--join", request->join,
      "Share the runs with other processes, which are started with the same options at any time and on "
      "any machine that sees --out");
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command sweep_command() {
  return {
      .name = "sweep",
      .summary = "Train a grid of variants and compare them over seeds",
      .description =
          "Trains every combination of the --vary values with several seeds, each run in a directory of its "
          "own, and prints validation loss with its 95 % interval over the seeds, sink, activation, gates "
          "and "
          "spikes; report.html has them with curves, table.csv has the runs. A run that diverges is counted. "
          "Ctrl-C saves; --resume goes on, and takes more values or seeds than before. mpirun or srun shares "
          "the "
          "runs out over processes; what one that dies had begun, another takes up.",
      .examples = {"sluice sweep tiny-baseline --data text.tokens --tokenizer tokenizer.json --out sweep "
                   "--vary model=tiny-baseline,tiny-elementwise --vary schedule.peak=1e-3,3e-3 --seeds 3"},
      .dtype = {.text = "Products in bf16 or f32 (default: as configured)", .words = {"f32", "bf16"}},
      .processes = Processes::Pieces,
      .declare = declare_sweep};
}

}  // namespace sluice::cli
