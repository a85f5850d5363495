#include "sluice/probe/trace.h"
#include "sluice/base/error.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/overwriting.h"
#include "sluice/cli/use_case.h"

namespace sluice::cli {
namespace {

struct TraceOptions {
  ModelInput model;
  std::string out;
  PromptOptions prompt;
  InterventionOptions interventions;
  std::vector<std::string> captures;
};

void run(const TraceOptions& options, const Session& session) {
  if (options.out.empty()) throw usage_error({.where = "trace", .what = "--out is required"});
  refuse_overwriting(options.out, std::span(&options.model.path, 1));
  Engine engine(session.options.engine());
  const LoadedModel model = options.model.open(engine, session);
  const std::vector<TokenId> ids = options.prompt.tokens(model, "trace");
  CapturedTrace traced =
      trace(model,
            {.ids = ids,
             .captures = options.captures,
             .interventions = options.interventions.interventions(model, std::ssize(ids), session)},
            job_control(session));
  write_trace(options.out, traced);
  print_result(session, WrittenTrace{.out = options.out, .traced = std::move(traced)});
}

Action declare_trace(Options& options) {
  auto target = std::make_shared<TraceOptions>();
  target->model.declare(options);
  target->prompt.declare(options);
  options.repeated({.name = "--capture",
                    .value = "TAP",
                    .text = "Write these values, too: attn.q, layers.0-3.mlp.out, attn.*"},
                   target->captures);
  target->interventions.declare(options);
  options.text({.name = "--out", .value = "FILE", .text = "Where to write the tensors (.safetensors)"},
               target->out);
  return [target](const Session& session) { run(*target, session); };
}

}  // namespace

Command trace_command() {
  return {.name = "trace",
          .summary = "Write logits, hidden states, attention and gates of a forward pass",
          .description =
              "Runs a model on a prompt and writes, as f32 tensors of a safetensors file: logits [T, V], "
              "hidden [L+1, T, D] (the embedding, then each block's output before the final norm), attn "
              "[L, H, T, T], and for models with a g1 gate gates [L, T, H, head_dim] (headwise: 1).",
          .examples = {"sluice trace path/to/model --prompt \"Hello\" --out trace.safetensors",
                       "sluice trace path/to/model --ids 1,2,3 --out trace.safetensors --json"},
          .dtype = model_dtype(),
          .declare = declare_trace};
}

}  // namespace sluice::cli
