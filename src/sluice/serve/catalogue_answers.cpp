// What there is: models, prompts, sequences of the nursery, and how the server does.
#include <fmt/format.h>

#include <charconv>

#include "sluice/analysis/input_types.h"
#include "sluice/analysis/prompt_map.h"
#include "sluice/base/build_info.h"
#include "sluice/base/json_text.h"
#include "sluice/base/system.h"
#include "sluice/data/backcopy.h"
#include "sluice/serve/example_calibration.h"
#include "sluice/serve/explorer_state.h"
#include "sluice/serve/server.h"

namespace sluice::serve {
namespace {

using nlohmann::ordered_json;

// Of the chain that the demo's nursery and tests/golden/nursery were trained on.
constexpr int64_t kNurserySeed = 1;

// Not longer than asked for, and ending behind a word.
std::string beginning_of(const std::string& text, size_t bytes) {
  if (text.size() <= bytes) return text;
  const size_t space = text.find_last_of(" \n", bytes);
  return text.substr(0, space == std::string::npos ? bytes : space);
}

}  // namespace

HttpResponse json_response(const ordered_json& json) {
  return {.body = compact_text(json)};
}

int64_t parameter_or(const HttpRequest& request, std::string_view name, int64_t fallback,
                     IntegerRange range) {
  const std::string* text = request.parameter(name);
  if (text == nullptr) return fallback;
  int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, problem] = std::from_chars(text->data(), end, value);
  if (problem != std::errc() || stop != end || value < range.min || value > range.max)
    throw HttpError(
        400,
        fmt::format("{}: expected integer from {} to {}, got \"{:.40}\"", name, range.min, range.max, *text),
        std::string(name));
  return value;
}

Answer answer_about(ExplorerState& state, const HttpRequest& /*request*/) {
  return json_response({{"version", build_info().version},
                        {"read_only", state.read_only},
                        {"isa", name_of(state.engine.isa().isa)},
                        {"threads", state.engine.threads().count()},
                        {"nursery_seed", kNurserySeed},
                        {"limits",
                         {{"tokens", kMaxPromptTokens},
                          {"new_tokens", kMaxNewTokens},
                          {"body_bytes", state.http.body_bytes},
                          {"seconds", state.queue.limits().seconds},
                          {"queue", state.queue.limits().waiting}}}});
}

Answer answer_health(ExplorerState& state, const HttpRequest& /*request*/) {
  return json_response({{"status", "ok"},
                        {"version", build_info().version},
                        {"models", state.shelf.models().size()},
                        {"waiting", state.queue.status().waiting.size()}});
}

Answer answer_metrics(ExplorerState& state, const HttpRequest& /*request*/) {
  const QueueStatus queue = state.queue.status();
  const auto waiting = static_cast<double>(queue.waiting.size());
  return HttpResponse{
      .type = "text/plain; version=0.0.4; charset=utf-8",
      .body = state.metrics.text(
          {{"queue_waiting", "Requests that wait for their turn", waiting},
           {"queue_running", "Computations that run", queue.running ? 1.0 : 0.0},
           {"cache_bytes", "Memory of kept views", static_cast<double>(state.views.bytes())},
           {"pool_bytes", "Memory of tensors", static_cast<double>(state.engine.pool().stats().reserved)},
           {"peak_resident_bytes", "Most memory at once", static_cast<double>(peak_resident_bytes())}})};
}

Answer answer_models(ExplorerState& state, const HttpRequest& /*request*/) {
  ordered_json models = ordered_json::array();
  for (const ShelvedModel& model : state.shelf.models())
    models.push_back(to_json(model, state.shelf.options()));
  return json_response({{"models", std::move(models)}});
}

Answer answer_prompts(ExplorerState& /*state*/, const HttpRequest& request) {
  const int64_t seed = parameter_or(request, "seed", 0, {0, 1'000'000});
  const int64_t bytes = parameter_or(request, "bytes", 240, {16, 1600});
  ordered_json prompts = ordered_json::array();
  for (const LabelledTexts& type : generated_types(1, static_cast<uint64_t>(seed)))
    prompts.push_back(
        {{"type", type.label}, {"text", beginning_of(type.texts.front(), static_cast<size_t>(bytes))}});
  return json_response({{"prompts", std::move(prompts)}});
}

Answer answer_backcopy(ExplorerState& /*state*/, const HttpRequest& request) {
  const int64_t seed = parameter_or(request, "seed", kNurserySeed, {0, 1'000'000});
  // Documents of a corpus come first; a training has not seen those that come later.
  constexpr uint64_t kUnseen = uint64_t{1} << 40;
  const int64_t index = parameter_or(request, "index", 0, {0, 1'000'000});
  const int64_t letters = parameter_or(request, "letters", 63, {1, kMaxPromptTokens - 1});
  const BackcopyChain chain(static_cast<uint64_t>(seed));
  const std::string text =
      chain.document(kUnseen + static_cast<uint64_t>(index), static_cast<size_t>(letters));
  ordered_json triggers = ordered_json::array(), copies = ordered_json::array();
  for (const char letter : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    if (chain.is_trigger(letter)) triggers.push_back(std::string(1, letter));
  for (size_t i = 1; i < text.size(); ++i)
    if (chain.is_copied(std::string_view(text).substr(0, i))) copies.push_back(i);
  return json_response({{"seed", seed},
                        {"index", index},
                        {"text", text},
                        {"triggers", std::move(triggers)},
                        {"copies", std::move(copies)}});
}

// A line of JSON for each, as --calibration reads them.
Answer answer_examples(ExplorerState& state, const HttpRequest& request) {
  const std::string* id = request.parameter("model");
  if (id == nullptr) throw HttpError(400, "model: needed", "model");
  std::string lines;
  for (const std::string& text : example_texts(state.shelf.find(*id)))
    lines += compact_text({{"text", text}}) + "\n";
  return HttpResponse{.type = "application/x-ndjson; charset=utf-8", .body = std::move(lines)};
}

Answer answer_queue(ExplorerState& state, const HttpRequest& request) {
  const QueueStatus status = state.queue.status();
  const QueueClient client = client_of(request);
  ordered_json running, yours = ordered_json::array();
  if (status.running) {
    running = {{"kind", status.running->kind},
               {"model", status.running->model},
               {"yours", status.running->client == client},
               {"seconds", status.running->seconds},
               {"done", status.running->done},
               {"total", status.running->total}};
  }
  for (const WaitingWork& work : status.waiting) {
    if (work.client != client) continue;
    yours.push_back({{"kind", work.kind},
                     {"place", work.place},
                     {"waited_s", work.waited_s},
                     {"expected_s", work.expected_s ? ordered_json(*work.expected_s) : ordered_json()}});
  }
  return json_response(
      {{"running", std::move(running)}, {"waiting", status.waiting.size()}, {"yours", std::move(yours)}});
}

}  // namespace sluice::serve
