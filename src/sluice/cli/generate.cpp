#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/interrupt.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/progress.h"
#include "sluice/data/text_reader.h"
#include "sluice/infer/generator.h"
#include "sluice/text/streaming_decoder.h"

namespace sluice::cli {
namespace {

using nlohmann::ordered_json;

struct Request {
  std::string model, prompts;
  PromptOptions prompt;
  InterventionOptions interventions;
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

struct Made {
  std::string text;
  Generation generation;
  size_t prompt_tokens = 0;

  double prompt_rate() const { return rate(prompt_tokens, generation.prompt_seconds); }

  // The first token comes out of the prompt's pass, so it is not decoded.
  double decode_rate() const {
    return rate(generation.ids.empty() ? 0 : generation.ids.size() - 1, generation.decode_seconds);
  }

  ordered_json json() const {
    return {{"text", text},
            {"ids", generation.ids},
            {"prompt_tokens_per_s", prompt_rate()},
            {"tokens_per_s", decode_rate()}};
  }
};

// Hands the text over piece by piece, never a part of a character.
using Pieces = std::function<void(std::string_view)>;

class Writer {
 public:
  Writer(const Request& request, const RunnableModel& model)
      : model_(model),
        intervener_(request.interventions.intervener(model)),
        options_(options_of(request, model.decoder->config())) {
    if (intervener_ && intervener_->needs_all_tokens()) {
      throw usage_error({.where = "generate",
                         .what = "mean and shuffle are over all tokens of a text",
                         .hint = "here they come one by one; eval and trace take them"});
    }
  }

  Made write(const std::vector<int32_t>& prompt, const Pieces& pieces) {
    Made made{.text = "", .generation = {}, .prompt_tokens = prompt.size()};
    StreamingDecoder decoder(model_.tokenizer);
    const auto take = [&](const std::string& piece) {
      made.text += piece;
      pieces(piece);
    };
    Generator generator(model_.context(intervener_.get()), *model_.decoder);
    made.generation = generator.generate(prompt, options_, [&](int32_t id) {
      throw_if_interrupted();
      // A model's vocabulary may be padded beyond its tokenizer's: such ids have no text.
      if (id < model_.tokenizer.size()) take(decoder.push(id));
      return true;
    });
    take(decoder.finish());
    return made;
  }

 private:
  const RunnableModel& model_;
  std::unique_ptr<Intervener> intervener_;
  GenerateOptions options_;
};

// Not refused: how a model does beyond its length is a question that people ask.
void warn_beyond_positions(const Request& request, const Session& session, const ModelConfig& config,
                           size_t longest_prompt) {
  const int64_t tokens = static_cast<int64_t>(longest_prompt) + request.max_tokens;
  if (tokens <= config.positions) return;
  session.log.warn(
      "the prompt and --max-tokens together take {} tokens, the model is made for {} "
      "(max_position_embeddings): what comes after may be poor",
      tokens, config.positions);
}

void run_prompt(const Request& request, const Session& session, const RunnableModel& model) {
  const std::vector<int32_t> prompt = request.prompt.tokens(model, "generate");
  warn_beyond_positions(request, session, model.decoder->config(), prompt.size());
  Writer writer(request, model);
  const bool json = session.options.json;
  const Made made = writer.write(prompt, [&](std::string_view piece) {
    if (!json) session.out << piece << std::flush;
  });
  if (json) {
    session.out << made.json().dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
    return;
  }
  session.out << '\n';
  session.log.info("{} prompt tokens at {:.1f} per s, {} new at {:.1f} per s", prompt.size(),
                   made.prompt_rate(), made.generation.ids.size(), made.decode_rate());
}

// All prompts are looked at before the first is continued: a bad one at the end costs no hours.
std::vector<std::pair<std::string, std::vector<int32_t>>> read_prompts(const Request& request,
                                                                       const RunnableModel& model) {
  std::vector<std::pair<std::string, std::vector<int32_t>>> prompts;
  for_each_prompt(request.prompts, [&](std::string_view text) {
    prompts.emplace_back(text, model.encode(text));
    if (prompts.back().second.empty())
      throw bad_input({.where = input_name(request.prompts), .what = "a prompt has no tokens"});
  });
  if (prompts.empty()) throw bad_input({.where = input_name(request.prompts), .what = "no prompts in it"});
  return prompts;
}

void run_prompts(const Request& request, const Session& session, const RunnableModel& model) {
  if (!request.prompt.text.empty() || !request.prompt.ids.empty())
    throw usage_error({.where = "generate", .what = "give only one of --prompt, --ids and --prompts"});
  const auto prompts = read_prompts(request, model);
  const auto longest =
      std::ranges::max_element(prompts, {}, [](const auto& prompt) { return prompt.second.size(); });
  warn_beyond_positions(request, session, model.decoder->config(), longest->second.size());
  Writer writer(request, model);
  Progress progress(session.log, "prompts", static_cast<int64_t>(prompts.size()));
  std::vector<ordered_json> results;
  const auto print_object = [&] {
    if (!session.options.json) return;
    session.out << ordered_json{{"results", results}}.dump(2, ' ', false,
                                                           ordered_json::error_handler_t::replace)
                << std::endl;
  };
  try {
    for (const auto& [text, ids] : prompts) {
      ordered_json result = {{"prompt", text}};
      result.update(writer.write(ids, [](std::string_view) {}).json());
      if (session.options.json) {
        results.push_back(std::move(result));
      } else {
        session.out << result.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << std::endl;
      }
      progress.done(1);
    }
  } catch (const Error&) {
    print_object();  // what is done may have taken hours, and Ctrl-C is an Error, too
    throw;
  }
  print_object();
}

void run(const Request& request, const Session& session) {
  RunnableModel model = open_model(session, request.model);
  if (request.prompts.empty()) {
    run_prompt(request, session, model);
  } else {
    model.keep_weights_packed();
    run_prompts(request, session, model);
  }
}

Action declare_generate(Options& options) {
  auto request = std::make_shared<Request>();
  options.argument({.name = "MODEL", .value = "", .text = "A model directory"}, Presence::Required,
                   request->model);
  request->prompt.declare(options);
  options.text(
      {.name = "--prompts",
       .value = "FILE",
       .text = "Many prompts: a line each, or .jsonl with a text field; a line of JSON for each result"},
      request->prompts);
  request->interventions.declare(options);
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
  return {
      .name = "generate",
      .summary = "Continue a prompt",
      .description =
          "Generates text with a key/value cache, greedily or by sampling, and streams it to the "
          "terminal. It ends at the model's end-of-text token or after --max-tokens. With --prompts, what "
          "is done is printed even if Ctrl-C ends the work.",
      .examples = {"sluice generate path/to/model --prompt \"Once\" --temperature 0.8 --seed 1",
                   "sluice generate path/to/model --ids 1,2,3 --json",
                   "sluice generate path/to/model --prompts prompts.txt --max-tokens 32"},
      .dtype = model_dtype(),
      .declare = declare_generate};
}

}  // namespace sluice::cli
