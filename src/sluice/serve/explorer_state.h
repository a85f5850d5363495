// What all handlers of the explorer share.
#pragma once

#include "sluice/serve/answer.h"
#include "sluice/serve/fair_queue.h"
#include "sluice/serve/metrics.h"
#include "sluice/serve/model_shelf.h"
#include "sluice/serve/request_parser.h"
#include "sluice/serve/view_store.h"

namespace sluice::serve {

struct ExplorerState {
  Engine& engine;
  ModelShelf shelf;
  ViewStore views;
  FairQueue queue;
  Metrics metrics = {};
  bool read_only = false;
  HttpLimits http = {};

  SubjectRules rules() const { return {.changes = read_only ? Changes::Refused : Changes::Allowed}; }
};

// New tokens that may be asked for at once.
constexpr int64_t kMaxNewTokens = 1024;

HttpResponse json_response(const nlohmann::ordered_json& json);

// A number of the query. HttpError if it is none or outside.
int64_t parameter_or(const HttpRequest& request, std::string_view name, int64_t fallback, IntegerRange range);

// How a view came to be there.
struct ViewTiming {
  bool cached = true;
  double waited_s = 0, computed_s = 0;
};

nlohmann::ordered_json to_json(const ViewTiming& timing);

// A view with its table of the next token, and where it came from.
nlohmann::ordered_json view_json(const StoredView& stored, size_t rows);

// The handlers, by path.
Answer answer_about(ExplorerState& state, const HttpRequest& request);
Answer answer_health(ExplorerState& state, const HttpRequest& request);
Answer answer_metrics(ExplorerState& state, const HttpRequest& request);
Answer answer_models(ExplorerState& state, const HttpRequest& request);
Answer answer_prompts(ExplorerState& state, const HttpRequest& request);
Answer answer_backcopy(ExplorerState& state, const HttpRequest& request);
Answer answer_examples(ExplorerState& state, const HttpRequest& request);
Answer answer_queue(ExplorerState& state, const HttpRequest& request);
Answer answer_tokenize(ExplorerState& state, const HttpRequest& request);
Answer answer_view(ExplorerState& state, const HttpRequest& request);
Answer answer_next(ExplorerState& state, const HttpRequest& request);
Answer answer_map(ExplorerState& state, const HttpRequest& request);
Answer answer_grid(ExplorerState& state, const HttpRequest& request);
Answer answer_compare(ExplorerState& state, const HttpRequest& request);
Answer answer_lens(ExplorerState& state, const HttpRequest& request);
Answer answer_rank(ExplorerState& state, const HttpRequest& request);
Answer answer_generate(ExplorerState& state, const HttpRequest& request);
Answer answer_completion_models(ExplorerState& state, const HttpRequest& request);
Answer answer_completion(ExplorerState& state, const HttpRequest& request);

}  // namespace sluice::serve
