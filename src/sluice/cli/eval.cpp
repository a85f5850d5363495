#include "sluice/base/error.h"
#include "sluice/cli/chunk_options.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/text_format_option.h"
#include "sluice/cli/use_case.h"
#include "sluice/eval/evaluate.h"

namespace sluice::cli {
namespace {

struct EvalOptions {
  ModelInput model;
  std::string ids_file, against;
  std::vector<std::string> data;
  TextFormatOption format;
  InterventionOptions interventions;
  ChunkingOptions chunking;
  bool held_out = false;
};

TextSource source_of(const EvalOptions& options) {
  if (options.held_out) {
    if (options.ids_file.empty() && options.format.word.empty()) return HeldOutText{options.data};
    throw usage_error({.where = "eval", .what = "--held-out takes neither --ids-file nor --format"});
  }
  if (options.ids_file.empty() == options.data.empty())
    throw usage_error({.where = "eval", .what = "give either --data or --ids-file, or --held-out"});
  if (options.data.empty() && !options.format.word.empty())
    throw usage_error({.where = "eval", .what = "--format is of --data"});
  if (options.data.empty()) return IdsFile{options.ids_file};
  return DataFiles{.paths = options.data, .format = options.format.format()};
}

ModelEvaluationRequest request_of(const EvalOptions& options, const Session& session) {
  ModelEvaluationRequest request{
      .model = options.model.path,
      .options = options.model.options(weight_type(session)),
      .source = source_of(options),
      .chunks = options.held_out ? options.chunking.of_held_out() : options.chunking.chunks(),
      .interventions = options.interventions.texts};
  if (!options.against.empty()) request.against = sluice::weight_type(options.against);
  return request;
}

Action declare_eval(Options& options) {
  auto target = std::make_shared<EvalOptions>();
  target->model.declare(options);
  options.list({.name = "--data",
                .value = "FILE...",
                .text = "Text: .txt, .jsonl with a text field, packed (.gz, .bz2, .xz, .zst) or not, - for "
                        "stdin; or token shards"},
               target->data);
  target->format.declare(options);
  options.text(
      {.name = "--ids-file", .value = "FILE", .text = "Token ids, separated by white space, instead of text"},
      target->ids_file);
  options.flag(
      "--held-out", target->held_out,
      "Evaluate what the run of this model held out of its training, all of it; --data then says where "
      "the run's data are, if they were moved");
  target->interventions.declare(options);
  target->chunking.declare(options);
  options.choice({.name = "--against",
                  .value = "TYPE",
                  .text = "Evaluate the same chunks with weights of this type, too, and say what differs",
                  .words = model_dtype().words},
                 target->against);
  return [target](const Session& session) {
    const ModelEvaluationRequest request = request_of(*target, session);
    Engine engine(session.options.engine());
    const Evaluation evaluation = evaluate_model(engine, request, job_control(session));
    print_result(session, evaluation);
  };
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
                   "sluice eval run --held-out",
                   "sluice eval path/to/model --data wiki.txt --dtype int8 --against bf16"},
      .dtype = model_dtype(),
      .declare = declare_eval};
}

}  // namespace sluice::cli
