#include "sluice/cli/commands.h"
#include "sluice/cli/training.h"
#include "sluice/cli/use_case.h"
#include "sluice/report/experiment_report.h"
#include "sluice/report/report_header.h"

namespace sluice::cli {
namespace {

struct ExperimentOptions {
  std::string file, home = "experiments-home", page, ledger;
  bool ended = false;
  int seeds = 0;
};

void run(const ExperimentOptions& options, const Session& session) {
  Engine engine(session.options.engine());
  TrainingDisplay display(engine, session.log);
  const ExperimentResult result =
      answer_experiment(engine,
                        {.experiment = {.experiment = read_experiment(options.file),
                                        .home = options.home,
                                        .runs = options.ended ? RunSelection::Ended : RunSelection::All,
                                        .most_seeds = options.seeds,
                                        .ledger = options.ledger},
                         .page = options.page,
                         .header = report_header(engine, session.command_line)},
                        training_control(session), display.sweep_observer());
  if (!options.page.empty()) session.log.info("the page is {}/{}.md", options.page, result.experiment.name);
  print_result(session, result);
}

Action declare_experiment(Options& options) {
  auto target = std::make_shared<ExperimentOptions>();
  options.argument({.name = "FILE", .value = "", .text = "The experiment, as in experiments/"},
                   Presence::Required, target->file);
  options.text({.name = "--home",
                .value = "DIR",
                .text = "Where its text and its runs are kept (default: experiments-home)"},
               target->home);
  options.text(
      {.name = "--page", .value = "DIR", .text = "Also write its page there: Markdown, figure and tables"},
      target->page);
  options.text({.name = "--ledger",
                .value = "DIR",
                .text = "Keep there what was measured of its runs, and train none again that is known there"},
               target->ledger);
  options.integer({.name = "--seeds",
                   .value = "N",
                   .text = "Train the first N of its seeds only (default: all that it plans)",
                   .low = 1,
                   .high = 1'000'000},
                  target->seeds);
  options.flag("--ended", target->ended, "Train nothing: take the runs that have ended");
  return [target](const Session& session) { run(*target, session); };
}

}  // namespace

Command experiment_command() {
  return {
      .name = "experiment",
      .summary = "Train and measure what answers a question, and write the page about it",
      .description =
          "Reads a question with everything that was decided beforehand (the variants, the seeds, when they "
          "are looked at, which runs count), trains the runs that are missing, measures them on text that "
          "they "
          "never saw and compares them in pairs of seeds. Stopped, it goes on where it was when it is called "
          "again.",
      .examples = {"sluice experiment experiments/nursery.json --home ../science --page docs/results",
                   "sluice experiment experiments/nursery.json --home ../science --ended --json"},
      .declare = declare_experiment};
}

}  // namespace sluice::cli
