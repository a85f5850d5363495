#include "sluice/probe/generate_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/log.h"
#include "sluice/data/text_reader.h"
#include "sluice/infer/generator.h"
#include "sluice/infer/positions.h"
#include "sluice/nn/tap_points.h"
#include "sluice/probe/probe_chain.h"
#include "sluice/text/streaming_decoder.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

double rate(int64_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0.0;
}

GenerateOptions generator_options(const TextGenerationOptions& options, const ModelConfig& config) {
  GenerateOptions result{.sampler = options.sampler, .max_tokens = options.max_tokens};
  for (const int64_t id : config.end_of_text) result.stop.insert(static_cast<TokenId>(id));
  return result;
}

// Text as it comes, for models with a tokenizer and without.
class GrowingText {
 public:
  GrowingText(const LoadedModel& model, const TokenArrived& arrived) : arrived_(arrived) {
    if (!model.has_tokenizer()) return;
    decoder_.emplace(model.tokenizer());
    known_ids_ = model.tokenizer().size();
    text_ = "";
  }

  void push(TokenId id) {
    // A model's vocabulary may be padded beyond its tokenizer's: such ids have no text.
    hand_over(id, decoder_ && id < known_ids_ ? decoder_->push(id) : std::string());
  }

  std::optional<std::string> finish() {
    const std::string rest = decoder_ ? decoder_->finish() : std::string();
    if (!rest.empty()) hand_over({}, rest);
    return std::move(text_);
  }

 private:
  void hand_over(std::optional<TokenId> id, const std::string& piece) {
    if (text_) *text_ += piece;
    if (arrived_) arrived_(id, piece);
  }

  const TokenArrived& arrived_;
  std::optional<StreamingDecoder> decoder_;
  TokenId known_ids_ = 0;
  std::optional<std::string> text_;
};

constexpr std::string_view kPromptAndNew = "the prompt and the new tokens may together take";

// What chooses among the likely tokens has no say where the likeliest is always taken.
void warn_of_greedy(const SamplerOptions& sampler, const JobControl& control) {
  if (sampler.temperature > 0) return;
  std::string ignored;
  const auto add = [&](bool given, const char* name) {
    if (given) ignored += (ignored.empty() ? "" : ", ") + std::string(name);
  };
  add(sampler.top_k > 0, "--top-k");
  add(sampler.top_p < 1, "--top-p");
  add(sampler.min_p > 0, "--min-p");
  if (ignored.empty()) return;
  control.warn("{} without effect: at temperature 0 the likeliest token is taken (--temperature 1 samples)",
               ignored);
}

// Without an intervention no probe: then values that are only there to be seen are not computed.
std::optional<Intervener> intervener_of(const TextGenerationOptions& options) {
  if (options.interventions.empty()) return {};
  return Intervener(options.interventions);
}

// Shows the logits of every step to somebody.
class LogitsProbe : public Probe {
 public:
  using Seen = std::function<void(std::span<const float>)>;
  explicit LogitsProbe(const Seen& seen) : seen_(seen) {}

  bool wants(const TapName& name) const override { return seen_ && name.point == points::kLogits; }

  Tensor visit(const Context& /*context*/, const TapName& /*name*/, const Tensor& value) override {
    seen_(value.values<float>());
    return value;
  }

 private:
  const Seen& seen_;
};

GeneratedText generated(const LoadedModel& model, const TextGenerationRequest& request,
                        const Context& context, const JobControl& control) {
  GrowingText text(model, request.arrived);
  Generator generator(context, model.decoder());
  const GenerateOptions options = generator_options(request.options, model.config());
  Generation generation = generator.generate(request.prompt, options, [&](TokenId id) {
    control.stop_if_cancelled();
    text.push(id);
    return !request.enough || !request.enough();
  });
  return {.text = text.finish(),
          .ids = std::move(generation.ids),
          .stopped_by = generation.stopped_by,
          .prompt_tokens = std::ssize(request.prompt),
          .prompt_seconds = generation.prompt_seconds,
          .decode_seconds = generation.decode_seconds};
}

}  // namespace

double GeneratedText::prompt_rate() const {
  return rate(prompt_tokens, prompt_seconds);
}

// The first token comes out of the prompt's pass, so it is not decoded.
double GeneratedText::decode_rate() const {
  return rate(std::max<int64_t>(std::ssize(ids) - 1, 0), decode_seconds);
}

ordered_json to_json(const GeneratedText& made) {
  return {{"text", made.text ? ordered_json(*made.text) : ordered_json()},
          {"ids", made.ids},
          {"prompt_tokens_per_s", made.prompt_rate()},
          {"tokens_per_s", made.decode_rate()}};
}

ordered_json to_json(const ContinuedPrompt& continued) {
  ordered_json json = {{"prompt", continued.prompt}};
  json.update(to_json(continued.generated));
  return json;
}

ordered_json to_json(const ContinuedPrompts& continued) {
  ordered_json results = ordered_json::array();
  for (const ContinuedPrompt& each : continued.results) results.push_back(to_json(each));
  return {{"results", std::move(results)}};
}

GeneratedText generate_text(const LoadedModel& model, const TextGenerationRequest& request,
                            const JobControl& control) {
  const int64_t tokens = std::ssize(request.prompt) + request.options.max_tokens;
  warn_beyond_positions(model.config(), kPromptAndNew, tokens, control);
  warn_of_greedy(request.options.sampler, control);
  std::optional<Intervener> intervener = intervener_of(request.options);
  LogitsProbe logits(request.chosen_from);
  ProbeChain chain({intervener ? &*intervener : nullptr, request.chosen_from ? &logits : nullptr});
  const bool probed = intervener || request.chosen_from;
  GeneratedText text = generated(model, request, model.context(probed ? &chain : nullptr), control);
  if (intervener) intervener->check_effect();
  return text;
}

std::vector<Prompt> read_prompts(const LoadedModel& model, const std::string& path,
                                 std::optional<TextFormat> format) {
  std::vector<Prompt> prompts;
  const auto add = [&](std::string_view text) {
    prompts.push_back({std::string(text), model.encode(text)});
    if (prompts.back().ids.empty())
      throw bad_input({.where = input_name(path), .what = "a prompt has no tokens"});
  };
  for_each_prompt(path, add, format);
  if (prompts.empty()) throw bad_input({.where = input_name(path), .what = "no prompts in it"});
  return prompts;
}

ContinuedPrompts continue_prompts(const LoadedModel& model, const PromptsRequest& request,
                                  const JobControl& control) {
  const auto& [prompts, options, finished] = request;
  int64_t longest = 0;
  for (const Prompt& prompt : prompts) longest = std::max<int64_t>(longest, std::ssize(prompt.ids));
  warn_beyond_positions(model.config(), kPromptAndNew, longest + options.max_tokens, control);
  warn_of_greedy(options.sampler, control);
  std::optional<Intervener> intervener = intervener_of(options);
  const Context context = model.context(intervener ? &*intervener : nullptr, Packing::Keep);
  ContinuedPrompts continued;
  try {
    for (const Prompt& prompt : prompts) {
      if (intervener) intervener->begin_at(std::ssize(continued.results));
      control.report("prompts", std::ssize(continued.results), std::ssize(prompts));
      continued.results.push_back(
          {prompt.text, generated(model, {.prompt = prompt.ids, .options = options}, context, control)});
      if (finished) finished(continued.results.back());
    }
    control.report("prompts", std::ssize(prompts), std::ssize(prompts));
    if (intervener) intervener->check_effect();
  } catch (const Error& error) {
    continued.ended_by = error;
  }
  return continued;
}

}  // namespace sluice
