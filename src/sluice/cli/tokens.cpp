#include "sluice/analysis/prompt_map.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/use_case.h"
#include "sluice/report/shaded_prompt.h"

#include <unistd.h>

namespace sluice::cli {
namespace {

struct TokensOptions {
  ModelInput model;
  PromptOptions prompt;
  std::string by = "gate", color = "auto";
  std::optional<std::int64_t> layer, head;
};

ShadeBy shade_of(const std::string& word) {
  if (word == "surprise") return ShadeBy::Surprise;
  return word == "attention" ? ShadeBy::Attention : ShadeBy::Gate;
}

void run(const TokensOptions& options, const Session& session) {
  Engine engine(session.options.engine());
  const LoadedModel model = options.model.open(engine, session);
  const PromptMap map =
      map_prompt(model, {.ids = options.prompt.tokens(model, "tokens")}, job_control(session));
  const bool colored = options.color == "always" || (options.color == "auto" && ::isatty(STDOUT_FILENO) != 0);
  print_result(session, shade_prompt(map, {.by = shade_of(options.by),
                                           .layer = options.layer,
                                           .head = options.head,
                                           .colored = colored}));
}

Action declare_tokens(Options& options) {
  auto target = std::make_shared<TokensOptions>();
  target->model.declare(options);
  target->prompt.declare(options);
  options.choice(
      {.name = "--by",
       .value = "WHAT",
       .text = "What shades a token: its gate, its surprise or the attention on it (default: gate)",
       .words = {"gate", "surprise", "attention"}},
      target->by);
  options.integer({.name = "--layer",
                   .value = "N",
                   .text = "One layer (default: the mean over all)",
                   .low = 0,
                   .high = 1 << 20},
                  target->layer);
  options.integer({.name = "--head",
                   .value = "N",
                   .text = "One head, of gates (default: the mean over all)",
                   .low = 0,
                   .high = 1 << 20},
                  target->head);
  options.choice({.name = "--color",
                  .value = "WHEN",
                  .text = "Shade with colours of the terminal: auto, always, never (default: auto)",
                  .words = {"auto", "always", "never"}},
                 target->color);
  return [target](const Session& session) { run(*target, session); };
}

}  // namespace

Command tokens_command() {
  return {.name = "tokens",
          .summary = "Print a prompt with each token shaded by its gate, its surprise or the attention on it",
          .description =
              "Runs a model on a prompt and prints the prompt, darker where the value is higher, with the "
              "scale below; "
              "without colours each token is followed by its value.",
          .examples = {"sluice tokens path/to/model --prompt \"The cat sat on the mat\"",
                       "sluice tokens path/to/model --prompt \"The cat\" --by surprise",
                       "sluice tokens path/to/model --prompt \"The cat\" --layer 3 --head 1 --json"},
          .dtype = model_dtype(),
          .declare = declare_tokens};
}

}  // namespace sluice::cli
