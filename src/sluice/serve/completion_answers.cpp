// Completions as clients of OpenAI's interface expect them, so that existing programs can talk to a gated
// model.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sluice/base/json_text.h"
#include "sluice/probe/generate_text.h"
#include "sluice/serve/access.h"
#include "sluice/serve/completion_text.h"
#include "sluice/serve/example_calibration.h"
#include "sluice/serve/explorer_state.h"
#include "sluice/serve/sampler_keys.h"

namespace sluice::serve {
namespace {

using nlohmann::ordered_json;

struct WantedCompletion {
  Subject subject;
  TextGenerationOptions options = {};
  CompletionTextOptions text = {};
  bool echo = false, stream = false;
};

int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Keys that clients send along with values that change nothing.
void check_unsupported(const Json& json) {
  const auto refuse_unless = [&](const char* key, bool harmless) {
    if (json.contains(key) && !harmless)
      throw HttpError(400, fmt::format("{}: not supported here", key), key);
  };
  refuse_unless("n", json.integer_or("n", 1) == 1);
  refuse_unless("best_of", json.integer_or("best_of", 1) == 1);
  refuse_unless("suffix", false);
  refuse_unless("presence_penalty", json.number_or("presence_penalty", 0) == 0);
  refuse_unless("frequency_penalty", json.number_or("frequency_penalty", 0) == 0);
  if (json.contains("logit_bias")) refuse_unless("logit_bias", json.at("logit_bias").object().empty());
}

std::vector<std::string> read_stops(const Json& json) {
  std::vector<std::string> stops;
  if (!json.contains("stop")) return stops;
  const Json stop = json.at("stop");
  if (stop.is_text()) {
    stops.push_back(stop.text());
  } else {
    for (const Json& each : stop.array()) stops.push_back(each.text());
  }
  if (stops.size() > 4) throw HttpError(400, "stop: expected at most four", "stop");
  std::erase(stops, "");
  return stops;
}

uint64_t random_seed() {
  return std::stoull(random_token().substr(0, 12), nullptr, 16);
}

WantedCompletion read_completion(const Json& json, ExplorerState& state) {
  check_unsupported(json);
  WantedCompletion wanted{.subject = read_completion_subject(json, state.shelf, state.rules())};
  wanted.options.sampler = read_sampler(json, {.temperature = 1.0, .seed = random_seed()});
  wanted.options.max_tokens = json.integer_or("max_tokens", 16, {0, kMaxNewTokens});
  check_can_be_calibrated(wanted.subject.interventions);
  wanted.text = {.stops = read_stops(json)};
  if (json.contains("logprobs"))
    wanted.text.alternatives = static_cast<size_t>(json.integer("logprobs", {0, 20}));
  wanted.echo = json.boolean_or("echo", false);
  wanted.stream = json.boolean_or("stream", false);
  return wanted;
}

// A response, or an event of a stream, of which the last has the reason.
class CompletionFrame {
 public:
  explicit CompletionFrame(std::string model) : model_(std::move(model)) {}

  ordered_json around(std::string_view text, const ordered_json& logprobs, const ordered_json& reason) const {
    return {{"id", id_},
            {"object", "text_completion"},
            {"created", created_},
            {"model", model_},
            {"choices", {{{"text", text}, {"index", 0}, {"logprobs", logprobs}, {"finish_reason", reason}}}}};
  }

 private:
  std::string id_ = "cmpl-" + random_token();
  int64_t created_ = unix_seconds();
  std::string model_;
};

// The prompt with the chances of its tokens, which a pass over it tells.
void add_prompt(CompletionText& text, ExplorerState& state, const WantedCompletion& wanted,
                const LoadedModel& model, const std::vector<TokenId>& ids, const Turn& turn) {
  if (!wanted.text.alternatives) {
    for (const TokenId id : ids) text.add_prompt_token(id, {});
    return;
  }
  const ViewHandle view = state.views.obtain(wanted.subject, state.shelf, turn.control).view;
  const ViewPredictions predictions(model, view->view, view->packing);
  text.add_prompt_token(ids.front(), {});
  for (size_t i = 1; i < ids.size(); ++i) {
    const auto before = static_cast<int64_t>(i - 1);
    const Tensor row = predictions.log_probabilities({before, before + 1});
    text.add_prompt_token(ids[i], std::span<const float>(row.values<float>()));
  }
}

// `arrived` gets the text as it is certain, piece by piece.
ordered_json complete(ExplorerState& state, const WantedCompletion& wanted, const Turn& turn,
                      const CompletionText::Arrived& arrived) {
  const LoadedModel& model = state.shelf.load(*wanted.subject.model, turn.control);
  TextGenerationRequest request{.prompt = ids_of(wanted.subject, model), .options = wanted.options};
  request.options.interventions = calibrated_on_examples(
      *wanted.subject.model, model, {wanted.subject.interventions, std::ssize(request.prompt)}, turn.control);
  CompletionText text(model, wanted.text, arrived);
  if (wanted.echo) add_prompt(text, state, wanted, model, request.prompt, turn);
  int64_t made = 0;
  if (wanted.options.max_tokens > 0) {
    request.chosen_from = [&](std::span<const float> logits) { text.chosen_from(logits); };
    int64_t arrived_tokens = 0;
    turn.control.report("tokens", arrived_tokens, wanted.options.max_tokens);
    request.arrived = [&, arrived_tokens](std::optional<TokenId> id, std::string_view piece) mutable {
      text.add(id, piece);
      if (id) turn.control.report("tokens", ++arrived_tokens, wanted.options.max_tokens);
    };
    request.enough = [&] { return text.is_stopped(); };
    made = std::ssize(generate_text(model, request, turn.control).ids);
    state.metrics.generated_tokens += made;
  }
  text.finish();
  const bool stopped = text.is_stopped() || made < wanted.options.max_tokens;
  const int64_t prompt = std::ssize(request.prompt);
  ordered_json json = CompletionFrame(wanted.subject.model->id)
                          .around(text.text(), text.logprobs_json(), stopped ? "stop" : "length");
  json["usage"] = {{"prompt_tokens", prompt}, {"completion_tokens", made}, {"total_tokens", prompt + made}};
  return json;
}

void stream_completion(ExplorerState& state, const WantedCompletion& wanted, EventStream& events,
                       const Turn& turn) {
  const CompletionFrame frame(wanted.subject.model->id);
  const ordered_json whole =
      complete(state, wanted, turn, [&](std::string_view piece, const ordered_json& logprobs) {
        events.send("", compact_text(frame.around(piece, logprobs, nullptr)));
      });
  ordered_json last = frame.around("", nullptr, whole["choices"][0]["finish_reason"]);
  last["usage"] = whole["usage"];
  events.send("", compact_text(last));
  events.send("", "[DONE]");
}

}  // namespace

Answer answer_completion_models(ExplorerState& state, const HttpRequest& /*request*/) {
  ordered_json list = ordered_json::array();
  for (const ShelvedModel& model : state.shelf.models())
    list.push_back({{"id", model.id}, {"object", "model"}, {"created", 0}, {"owned_by", "sluice"}});
  return json_response({{"object", "list"}, {"data", std::move(list)}});
}

Answer answer_completion(ExplorerState& state, const HttpRequest& request) {
  if (state.read_only) throw HttpError(403, "this server is read-only: models are not made to talk");
  const Json json = body_of(request);
  json.allow_keys({"model",
                   "prompt",
                   "max_tokens",
                   "temperature",
                   "top_p",
                   "top_k",
                   "min_p",
                   "stop",
                   "seed",
                   "logprobs",
                   "echo",
                   "stream",
                   "stream_options",
                   "n",
                   "best_of",
                   "user",
                   "suffix",
                   "presence_penalty",
                   "frequency_penalty",
                   "logit_bias",
                   "interventions"});
  const WantedCompletion wanted = read_completion(json, state);
  Computation computation{.kind = "completion", .model = wanted.subject.model->id};
  if (wanted.stream) {
    computation.stream = [&state, wanted](EventStream& events, const Turn& turn) {
      stream_completion(state, wanted, events, turn);
    };
  } else {
    computation.whole = [&state, wanted](const Turn& turn) {
      return json_response(complete(state, wanted, turn, {}));
    };
  }
  return computation;
}

}  // namespace sluice::serve
