#include "sluice/ablate/ablation_forecast.h"
#include "sluice/base/error.h"
#include "sluice/base/stopwatch.h"
#include "sluice/cli/ablation_options.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/use_case.h"
#include "sluice/report/ablation_report.h"
#include "sluice/report/report_header.h"
#include "sluice/report/write_report.h"

namespace sluice::cli {
namespace {

ReportHeader header_of(const AblationOptions& options, const Engine& engine, const Session& session) {
  ReportHeader header = report_header(engine, session.command_line);
  for (const std::string& model : options.models) header.sources.push_back(report_source("model", model));
  for (const std::string& path : options.text.data)
    if (path != "-") header.sources.push_back(report_source("data", path));
  if (!options.text.ids_file.empty()) header.sources.push_back(report_source("data", options.text.ids_file));
  if (!options.calibration.empty())
    header.sources.push_back(report_source("calibration", options.calibration));
  return header;
}

AblationResult ablate(Engine& engine, const AblationRequest& request, const Session& session) {
  try {
    return run_ablation(engine, request, job_control(session));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Interrupted) throw;
    throw Error(ErrorKind::Interrupted, {.what = "the ablation was stopped", .hint = "--resume goes on"});
  }
}

void forecast(Engine& engine, const AblationOptions& options, const AblationRequest& request,
              const Session& session) {
  const AblationForecast result = forecast_ablation(engine, request, job_control(session));
  if (options.print_plan) return print_json(session, to_json(result.models.front().plan));
  print_result(session, result);
}

void run(const AblationOptions& options, const Session& session) {
  AblationRequest request = options.request(session);
  Engine engine(session.options.engine());
  if (options.print_plan || options.dry_run) return forecast(engine, options, request, session);
  const Stopwatch watch;
  request.publish = [&](const AblationResult& result) {
    ReportHeader header = header_of(options, engine, session);
    header.seconds = watch.seconds();
    write_result(to_json(result), options.out);
    write_report(ablation_report(result, std::move(header)), options.out);
  };
  const AblationResult result = ablate(engine, request, session);
  if (result.is_elsewhere)
    return session.log.info("all chunks have been run; another process of the ablation has the result");
  print_result(session, result);
  session.log.info("the report is in {0}/report.html, its numbers in {0}/result.json and CSV files",
                   options.out);
}

Action declare_ablate(Options& options) {
  auto target = std::make_shared<AblationOptions>();
  target->declare(options);
  return [target](const Session& session) { run(*target, session); };
}

}  // namespace

Command ablate_command() {
  return {
      .name = "ablate",
      .summary =
          "Break models in many ways, one at a time, and say what each does, with controls and intervals",
      .description =
          "Runs a plan of interventions over one text or several (each file is a text of its own) and "
          "compares "
          "every run with the unbroken model on the same chunks: change of the negative log-likelihood, "
          "perplexity ratio, KL, changed predictions, sink, largest activation, and a sample of what the "
          "broken "
          "model writes. What runs have in common is computed once. Chunks come in a random order, and a run "
          "rests as soon as its effect is known well enough by an interval that holds at every time of "
          "stopping "
          "and for all runs together. An ungated model is broken where a gate would sit. Results are kept "
          "chunk "
          "by chunk: Ctrl-C and a crash lose nothing that is finished, and --resume goes on. mpirun or srun "
          "shares the chunks out over processes; what one that dies had begun, another takes up.",
      .examples = {"sluice ablate path/to/model --data wiki.txt --out broken",
                   "sluice ablate gated baseline --data wiki.txt --plan layers --actions closed --out twins",
                   "sluice ablate path/to/model --data wiki.txt code.txt --plan seeds,controls --out broken",
                   "sluice ablate path/to/model --data wiki.txt --dry-run",
                   "sluice ablate path/to/model --data wiki.txt --estimate-only --out ranked"},
      .dtype = model_dtype(),
      .processes = Processes::Pieces,
      .declare = declare_ablate};
}

}  // namespace sluice::cli
