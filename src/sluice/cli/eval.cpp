#include "sluice/cli/chunk_options.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/task_options.h"
#include "sluice/cli/text_options.h"
#include "sluice/cli/use_case.h"
#include "sluice/eval/evaluate.h"

namespace sluice::cli {
namespace {

struct EvalOptions {
  ModelInput model;
  std::string against;
  TextOptions text;
  TaskOptions task;
  InterventionOptions interventions;
  ChunkingOptions chunking;
};

ModelEvaluationRequest request_of(const EvalOptions& options, const Session& session) {
  ModelEvaluationRequest request{
      .model = options.model.path,
      .options = options.model.options(weight_type(session)),
      .source = options.text.source("eval"),
      .chunks = options.text.held_out ? options.chunking.of_held_out("eval") : options.chunking.chunks(),
      .interventions = options.interventions.texts,
      .calibration = options.interventions.calibration};
  if (!options.against.empty()) request.against = sluice::weight_type(options.against);
  return request;
}

BackcopyScore score(Engine& engine, const EvalOptions& options, const Session& session) {
  const LoadedModel model = options.model.open(engine, session);
  BackcopyRequest request = options.task.request();
  request.interventions = options.interventions.interventions(model, request.tokens_of_pass(), session);
  return score_backcopy(model, request, job_control(session));
}

void run(const EvalOptions& options, const Session& session) {
  options.task.check({.text = options.text.is_given(),
                      .cutting = options.chunking.is_given(),
                      .against = !options.against.empty()});
  Engine engine(session.options.engine());
  if (!options.task.task.empty()) return print_result(session, score(engine, options, session));
  const ModelEvaluationRequest request = request_of(options, session);
  const Evaluation evaluation = evaluate_model(engine, request, job_control(session));
  print_result(session, evaluation);
}

Action declare_eval(Options& options) {
  auto target = std::make_shared<EvalOptions>();
  target->model.declare(options);
  target->text.declare(options);
  target->task.declare(options);
  target->interventions.declare(options);
  target->chunking.declare(options, ChunkingOptions::Overlap::Possible);
  options.choice({.name = "--against",
                  .value = "TYPE",
                  .text = "Evaluate the same chunks with weights of this type, too, and say what differs",
                  .words = model_dtype().words},
                 target->against);
  return [target](const Session& session) { run(*target, session); };
}

}  // namespace

Command eval_command() {
  return {
      .name = "eval",
      .summary = "Measure a model's perplexity on text",
      .description =
          "Perplexity: the exponential of the mean negative log-likelihood of every predicted token: without "
          "--stride and --bos, all but the first of each chunk. Documents are joined by the end-of-text "
          "token, so the same text gives the same figure as text, as JSON lines and as a shard. The interval "
          "is a bootstrap over chunks.",
      .examples = {"sluice eval path/to/model --data wiki.txt",
                   "sluice eval path/to/model --ids-file ids.txt --json",
                   "sluice eval path/to/model --data wiki.txt --chunk 1024 --stride 512 --bos text",
                   "sluice eval run --held-out", "sluice eval nursery/best --task backcopy --seed 1",
                   "sluice eval path/to/model --data wiki.txt --dtype int8 --against bf16"},
      .dtype = model_dtype(),
      .declare = declare_eval};
}

}  // namespace sluice::cli
