#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/error.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/generation_options.h"
#include "sluice/cli/use_case.h"
#include "sluice/probe/generate_text.h"

namespace sluice::cli {
namespace {

using nlohmann::ordered_json;

std::string line_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// Ids are printed for a model whose tokens have no text. That an intervention met no token is known only when
// the text, which was streamed, is over.
void run_prompt(const Session& session, const LoadedModel& model, TextGenerationRequest request) {
  bool has_begun = false;
  if (!session.options.json) {
    request.arrived = [&](std::optional<TokenId> id, std::string_view text) {
      has_begun = true;
      if (model.has_tokenizer()) session.out << text << std::flush;
      if (!model.has_tokenizer() && id) session.out << *id << ' ' << std::flush;
    };
  }
  GeneratedText generated;
  try {
    generated = generate_text(model, request, job_control(session));
  } catch (const Error&) {
    if (has_begun) session.out << std::endl;
    throw;
  }
  if (session.options.json) {
    print_json(session, to_json(generated));
    return;
  }
  session.out << std::endl;
  session.log.info("{} prompt tokens at {:.1f} per s, {} new at {:.1f} per s", generated.prompt_tokens,
                   generated.prompt_rate(), generated.ids.size(), generated.decode_rate());
}

// What is done may have taken hours: it is printed whatever ended it.
void run_prompts(const Session& session, const LoadedModel& model, PromptsRequest request) {
  if (!session.options.json) {
    request.finished = [&](const ContinuedPrompt& each) {
      session.out << line_of(to_json(each)) << std::endl;
    };
  }
  const ContinuedPrompts continued = continue_prompts(model, request, job_control(session));
  if (session.options.json) print_json(session, to_json(continued));
  if (continued.ended_by) throw Error(*continued.ended_by);
}

void run(const GenerationOptions& command, const Session& session) {
  if (!command.prompts.empty() && !(command.prompt.text.empty() && command.prompt.ids.empty()))
    throw usage_error({.where = "generate", .what = "give only one of --prompt, --ids and --prompts"});
  if (command.prompts.empty() && !command.format.word.empty())
    throw usage_error({.where = "generate", .what = "--format is of --prompts"});
  Engine engine(session.options.engine());
  const LoadedModel model = command.model.open(engine, session);
  if (command.prompts.empty()) {
    const std::vector<TokenId> prompt = command.prompt.tokens(model, "generate");
    run_prompt(session, model,
               {.prompt = prompt, .options = command.generation(model, std::ssize(prompt), session)});
  } else {
    const std::vector<Prompt> prompts = read_prompts(model, command.prompts, command.format.format());
    int64_t longest = 0;
    for (const Prompt& prompt : prompts) longest = std::max(longest, std::ssize(prompt.ids));
    run_prompts(session, model, {.prompts = prompts, .options = command.generation(model, longest, session)});
  }
}

}  // namespace

Command generate_command() {
  return {
      .name = "generate",
      .summary = "Continue a prompt",
      .description =
          "Generates text with a key/value cache, greedily or by sampling, and streams it to the "
          "terminal. It ends at the model's end-of-text token or after --max-tokens. With --prompts, what "
          "is done is printed even if Ctrl-C ends the work. A model without a tokenizer continues --ids, and "
          "prints ids.",
      .examples = {"sluice generate path/to/model --prompt \"Once\" --temperature 0.8 --seed 1",
                   "sluice generate path/to/model --ids 1,2,3 --json",
                   "sluice generate path/to/model --prompts prompts.txt --max-tokens 32"},
      .dtype = model_dtype(),
      .declare = [](Options& options) -> Action {
        auto command = std::make_shared<GenerationOptions>();
        command->declare(options);
        return [command](const Session& session) { run(*command, session); };
      }};
}

}  // namespace sluice::cli
