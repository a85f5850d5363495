#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/error.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/train_plan.h"
#include "sluice/cli/training.h"
#include "sluice/cli/training_options.h"

namespace sluice::cli {
namespace {

using nlohmann::ordered_json;

struct Request : TrainingOptions {
  bool dry_run = false, print_config = false;
};

std::string_view words_for(RunEnd end) {
  switch (end) {
    case RunEnd::Finished:
      return "finished";
    case RunEnd::Interrupted:
      return "interrupted";
    case RunEnd::OutOfTime:
      return "out of time";
    case RunEnd::NoProgress:
      return "no progress";
  }
  return "?";
}

void report(const Request& request, const Session& session, const TrainingOutcome& outcome) {
  const RunState& state = outcome.state;
  const bool validated = state.best_step >= 0;
  if (session.options.json) {
    const ordered_json json = {{"out", request.out},
                               {"end", words_for(outcome.end)},
                               {"steps", state.step},
                               {"tokens", state.tokens},
                               {"tokens_per_s", outcome.tokens_per_s()},
                               {"best_validation_loss", validated ? ordered_json(state.best_loss) : nullptr},
                               {"best_step", validated ? ordered_json(state.best_step) : nullptr},
                               {"spikes", state.losses.spikes},
                               {"validation", outcome.figures}};
    session.out << json.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
    return;
  }
  const std::string best =
      validated ? fmt::format("; validation loss {:.4f} at step {}", state.best_loss, state.best_step) : "";
  session.out << fmt::format("{}: {} steps, {} tokens{}; {}/latest\n", words_for(outcome.end), state.step,
                             state.tokens, best, request.out);
}

void run(const Request& request, const Session& session) {
  if (!request.dry_run && !request.print_config) request.check("train");
  const RunConfig config = load_run_config(request.config, request.all_changes(session));
  if (request.print_config) {
    session.out << run_config_json(config).dump(2) << '\n';
    return;
  }
  if (request.dry_run) {
    Engine engine(session.options.engine());
    const TrainPlan plan = plan_run(engine, config);
    session.out << (session.options.json ? plan.json().dump(2) + "\n" : plan.text());
    return;
  }
  const TrainingOutcome outcome = run_training({.config = config,
                                                .shards = open_shards(request.data),
                                                .out = request.out,
                                                .tokenizer = request.tokenizer,
                                                .start = request.resume ? RunStart::Resume : RunStart::New},
                                               session);
  report(request, session, outcome);
  if (outcome.end == RunEnd::Interrupted) {
    throw Error(ErrorKind::Interrupted,
                {.what = fmt::format("stopped and saved after step {}", outcome.state.step),
                 .hint = "--resume goes on"});
  }
}

Action declare_train(Options& options) {
  auto request = std::make_shared<Request>();
  request->declare_config(options);
  request->declare(options, {.out = "The run's directory",
                             .changes = "Change a value of the configuration",
                             .resume = "Go on where the run in --out stopped"});
  options.flag("--dry-run", request->dry_run, "Only say what the run will take: parameters, memory, time");
  options.flag("--print-config", request->print_config,
               "Print the configuration with every default, and stop");
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command train_command() {
  return {
      .name = "train",
      .summary = "Train a model",
      .description =
          "Trains on token shards and writes a run directory: config.json, metrics.jsonl and checkpoints "
          "that are model directories. Ctrl-C finishes the step, saves and ends; --resume then goes on, "
          "bitwise as if it had never stopped. A damaged checkpoint is skipped for the one before it.",
      .examples = {"sluice train configs/runs/tiny-elementwise.json --data text.tokens --tokenizer "
                   "tokenizer.json --out run",
                   "sluice train run/config.json --data text.tokens --out run --resume",
                   "sluice train configs/runs/51m-elementwise.json --set schedule.peak=6e-4 --print-config"},
      .dtype = {.text = "Products in bf16 or f32 (default: as the configuration says)",
                .words = {"f32", "bf16"}},
      .declare = declare_train};
}

}  // namespace sluice::cli
