#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/cli/commands.h"
#include "sluice/cli/model_input.h"
#include "sluice/infer/generator.h"
#include "sluice/text/streaming_decoder.h"

namespace sluice::cli {
namespace {

struct Request {
  std::string model;
  PromptOptions prompt;
  int max_tokens = 64, top_k = 0, seed = 0;
  double temperature = 0.0, top_p = 1.0, min_p = 0.0;
};

double rate(size_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0.0;
}

GenerateOptions options_of(const Request& request, const ModelConfig& config) {
  GenerateOptions options{.sampler = {.temperature = request.temperature,
                                      .top_k = request.top_k,
                                      .top_p = request.top_p,
                                      .min_p = request.min_p,
                                      .seed = static_cast<uint64_t>(request.seed)},
                          .max_tokens = request.max_tokens};
  for (const int64_t id : config.end_of_text) options.stop.insert(static_cast<int32_t>(id));
  return options;
}

void run(const Request& request, const Session& session) {
  const RunnableModel model = open_model(session, request.model);
  const std::vector<int32_t> prompt = request.prompt.tokens(model, "generate");
  StreamingDecoder decoder(model.tokenizer);
  std::string text;
  const auto arrived = [&](int32_t id) {
    // A model's vocabulary may be padded beyond its tokenizer's: such ids have no text.
    const std::string piece = id < model.tokenizer.size() ? decoder.push(id) : "";
    text += piece;
    if (!session.options.json) session.out << piece << std::flush;
    return true;
  };
  Generator generator(model.context(), *model.decoder);
  const Generation made = generator.generate(prompt, options_of(request, model.decoder->config()), arrived);
  const std::string rest = decoder.finish();
  text += rest;
  // The first token comes out of the prompt's pass, so it is not decoded.
  const double decode_rate = rate(made.ids.empty() ? 0 : made.ids.size() - 1, made.decode_seconds);
  if (session.options.json) {
    const nlohmann::ordered_json json = {{"text", text},
                                         {"ids", made.ids},
                                         {"prompt_tokens_per_s", rate(prompt.size(), made.prompt_seconds)},
                                         {"tokens_per_s", decode_rate}};
    session.out << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    return;
  }
  session.out << rest << '\n';
  session.log.info("{} prompt tokens at {:.1f} per s, {} new at {:.1f} per s", prompt.size(),
                   rate(prompt.size(), made.prompt_seconds), made.ids.size(), decode_rate);
}

Action declare_generate(Options& options) {
  auto request = std::make_shared<Request>();
  options.argument({.name = "MODEL", .value = "", .text = "A model directory"}, Presence::Required,
                   request->model);
  request->prompt.declare(options);
  options.integer({.name = "--max-tokens",
                   .value = "N",
                   .text = "New tokens at most (default: 64)",
                   .low = 1,
                   .high = 1 << 20},
                  request->max_tokens);
  options.number({.name = "--temperature",
                  .value = "X",
                  .text = "0 is greedy, the default; 1 samples as the model says",
                  .low = 0,
                  .high = 100},
                 request->temperature);
  options.integer({.name = "--top-k",
                   .value = "N",
                   .text = "Sample from the N likeliest tokens (default: all)",
                   .low = 0,
                   .high = 1 << 24},
                  request->top_k);
  options.number({.name = "--top-p",
                  .value = "X",
                  .text = "Sample from the fewest tokens that hold a share X (default: 1)",
                  .low = 0,
                  .high = 1},
                 request->top_p);
  options.number({.name = "--min-p",
                  .value = "X",
                  .text = "Leave out tokens less than X times as likely as the first (default: 0)",
                  .low = 0,
                  .high = 1},
                 request->min_p);
  options.integer({.name = "--seed",
                   .value = "N",
                   .text = "Seed of the sampling (default: 0)",
                   .low = 0,
                   .high = 2147483647},
                  request->seed);
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command generate_command() {
  return {.name = "generate",
          .summary = "Continue a prompt",
          .description =
              "Generates text with a key/value cache, greedily or by sampling, and streams it to the "
              "terminal. It ends at the model's end-of-text token or after --max-tokens.",
          .examples = {"sluice generate path/to/model --prompt \"Once\" --temperature 0.8 --seed 1",
                       "sluice generate path/to/model --ids 1,2,3 --json"},
          .declare = declare_generate};
}

}  // namespace sluice::cli
