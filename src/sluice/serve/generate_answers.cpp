// A continuation, token by token, as server-sent events.
#include <fmt/format.h>

#include "sluice/analysis/view_predictions.h"
#include "sluice/base/json_text.h"
#include "sluice/probe/generate_text.h"
#include "sluice/serve/example_calibration.h"
#include "sluice/serve/explorer_state.h"
#include "sluice/serve/sampler_keys.h"
#include "sluice/serve/token_chances.h"
#include "sluice/serve/token_json.h"

namespace sluice::serve {
namespace {

using nlohmann::ordered_json;

struct WantedText {
  Subject subject;
  TextGenerationOptions options = {};
  size_t alternatives = 5;
};

WantedText read_wanted(const Json& json, ExplorerState& state) {
  WantedText wanted{.subject = read_subject(json, state.shelf, state.rules())};
  wanted.options.max_tokens = json.integer_or("max_tokens", 64, {1, kMaxNewTokens});
  wanted.options.sampler = read_sampler(json, {});
  check_can_be_calibrated(wanted.subject.interventions);
  wanted.alternatives = static_cast<size_t>(json.integer_or("count", 5, {0, 50}));
  return wanted;
}

ordered_json token_event(const LoadedModel& model, const TokenChances& chances, TokenId id,
                         std::string_view text) {
  return {{"index", chances.index},
          {"id", id},
          {"token", token_json(model, id)},
          {"text", text},
          {"probability", shortest_number(static_cast<float>(chances.probability_of(id)))},
          {"top", predicted_json(model, chances.top)}};
}

// The token that ended the text and is no part of it; null if the text is as long as it may be.
ordered_json end_json(const LoadedModel& model, const TokenChances& chances, std::optional<TokenId> id) {
  if (!id) return {};
  return predicted_json(model, PredictedToken{.id = *id, .probability = chances.probability_of(*id)});
}

void stream_text(ExplorerState& state, const WantedText& wanted, EventStream& events, const Turn& turn) {
  const LoadedModel& model = state.shelf.load(*wanted.subject.model, turn.control);
  TextGenerationRequest request{.prompt = ids_of(wanted.subject, model), .options = wanted.options};
  request.options.interventions = calibrated_on_examples(
      *wanted.subject.model, model, {wanted.subject.interventions, std::ssize(request.prompt)}, turn.control);
  int64_t made_tokens = 0;
  turn.control.report("tokens", made_tokens, wanted.options.max_tokens);
  TokenChances chances(wanted.alternatives);
  request.chosen_from = [&](std::span<const float> logits) { chances.next(logits); };
  request.arrived = [&](std::optional<TokenId> id, std::string_view text) {
    if (id) {
      ++state.metrics.generated_tokens;
      turn.control.report("tokens", ++made_tokens, wanted.options.max_tokens);
    }
    events.send("token",
                compact_text(id ? token_event(model, chances, *id, text) : ordered_json({{"text", text}})));
  };
  const GeneratedText made = generate_text(model, request, turn.control);
  events.send("done", compact_text({{"reason", made.stopped_by ? "stop" : "length"},
                                    {"end", end_json(model, chances, made.stopped_by)},
                                    {"text", made.text ? ordered_json(*made.text) : ordered_json()},
                                    {"ids", made.ids},
                                    {"prompt_ids", request.prompt},
                                    {"tokens_per_s", made.decode_rate()}}));
}

}  // namespace

Answer answer_generate(ExplorerState& state, const HttpRequest& request) {
  const Json json = body_of(request);
  json.allow_keys({"model", "prompt", "ids", "interventions", "max_tokens", "temperature", "top_k", "top_p",
                   "min_p", "seed", "count"});
  if (state.read_only) throw HttpError(403, "this server is read-only: models are not made to talk");
  const WantedText wanted = read_wanted(json, state);
  return Computation{
      .kind = "generate",
      .model = wanted.subject.model->id,
      .stream = [&state, wanted](EventStream& events,
                                 const Turn& turn) { stream_text(state, wanted, events, turn); },
      .tells_place = true};
}

}  // namespace sluice::serve
