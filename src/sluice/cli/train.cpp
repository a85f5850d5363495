#include <fmt/format.h>

#include "sluice/base/error.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/training.h"
#include "sluice/cli/training_options.h"
#include "sluice/cli/use_case.h"
#include "sluice/train/training.h"
#include "sluice/train/training_plan.h"
#include "sluice/train/training_ranks.h"

namespace sluice::cli {
namespace {

struct TrainOptions : TrainingOptions {
  std::string resume;   // "", kFlagAlone or "auto"
  std::string reduce;   // empty: exact
  std::string experts;  // empty: everywhere
  bool dry_run = false, print_config = false;
};

RunStart start_of(const TrainOptions& request) {
  if (request.resume.empty()) return RunStart::New;
  return request.resume == "auto" ? RunStart::ResumeOrNew : RunStart::Resume;
}

ReduceOrder order_of(const TrainOptions& request) {
  for (const ReduceOrder order : {ReduceOrder::Fast, ReduceOrder::FastBf16})
    if (request.reduce == name_of(order)) return order;
  return ReduceOrder::Exact;
}

// On all ranks alike. A dry run may have no data.
TrainingJob job_of(const TrainOptions& request, const RunConfig& config, const Session& session) {
  TrainingJob job{.config = config,
                  .shards = {},
                  .out = request.out,
                  .tokenizer = request.tokenizer,
                  .start = start_of(request),
                  .ranks = {.ranks = session.ranks,
                            .order = order_of(request),
                            .experts = request.experts == name_of(ExpertPlacement::Spread)
                                           ? ExpertPlacement::Spread
                                           : ExpertPlacement::Everywhere}};
  if (request.data.empty()) return job;
  together(session.ranks, [&] {
    job.shards = request.open(request.data, session);
    job.validation = request.open(request.validation, session);
  });
  return job;
}

// What the run would refuse is refused before anything is measured; without data there is no run to check.
void dry_run(const TrainOptions& request, const RunConfig& config, const Session& session) {
  Engine engine(session.options.engine());
  const JobControl control = training_control(session);
  const TrainingJob job = job_of(request, config, session);
  check_ranks(engine, job);
  if (!job.shards.empty()) check_job(job);
  tell_ranks(engine, job, control);
  print_result(session, plan_training(engine, config, control, job.ranks));
}

void run(const TrainOptions& request, const Session& session) {
  if (!request.dry_run && !request.print_config) request.check("train");
  RunConfig config;
  together(session.ranks, [&] { config = load_run_config(request.config, request.all_changes(session)); });
  if (request.print_config) return print_json(session, run_config_json(config));
  if (request.dry_run) return dry_run(request, config, session);
  Engine engine(session.options.engine());
  const TrainingOutcome outcome = train_shown(engine, job_of(request, config, session), session);
  print_result(session, outcome);
  if (outcome.end == RunEnd::Interrupted) {
    throw Error(ErrorKind::Interrupted,
                {.what = fmt::format("stopped and saved after step {}", outcome.state.step),
                 .hint = "--resume goes on"});
  }
}

Action declare_train(Options& options) {
  auto request = std::make_shared<TrainOptions>();
  request->declare_config(options);
  request->declare(options, {.out = "The run's directory", .changes = "Change a value of the configuration"});
  options.flag_or_choice(
      {.name = "--resume",
       .value = "[auto]",
       .text = "Go on where the run in --out stopped; with auto, begin one if there is none",
       .words = {"auto"}},
      request->resume);
  options.choice(
      {.name = "--reduce",
       .value = "ORDER",
       .text = "How gradients of several passes and ranks are added: exact gives the same bits for any "
               "number of ranks; fast overlaps with backward, fast-bf16 sends half as much (default: exact)",
       .words = {"exact", "fast", "fast-bf16"}},
      request->reduce);
  options.choice({.name = "--experts",
                  .value = "WHERE",
                  .text = "Where ranks have a mixture's experts: everywhere, or spread, each rank some, to "
                          "which the others send their tokens; the same bits (default: everywhere)",
                  .words = {"everywhere", "spread"}},
                 request->experts);
  options.flag("--dry-run", request->dry_run, "Only say what the run will take: parameters, memory, time");
  options.flag("--print-config", request->print_config,
               "Print the configuration with every default, and stop");
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command train_command() {
  return {.name = "train",
          .summary = "Train a model",
          .description =
              "Trains on token shards or texts and writes a run directory: config.json, metrics.jsonl and "
              "checkpoints "
              "that are model directories. Ctrl-C finishes the step, saves and ends; --resume then goes on, "
              "bitwise as if it had never stopped. A damaged checkpoint is skipped for the one before it. "
              "mpirun or srun "
              "starts it on several processes, which share out every step (sluice help cluster).",
          .examples = {"sluice train tiny-elementwise --data text.tokens --tokenizer "
                       "tokenizer.json --out run",
                       "sluice train run/config.json --data text.tokens --out run --resume",
                       "mpirun -n 4 sluice train my.json --data text.tokens --out run --set pass_tokens=4096",
                       "sluice train 51m-elementwise --set schedule.peak=6e-4 --print-config"},
          .dtype = {.text = "Products in bf16 or f32 (default: as the configuration says)",
                    .words = {"f32", "bf16"}},
          .processes = Processes::Ranks,
          .declare = declare_train};
}

}  // namespace sluice::cli
