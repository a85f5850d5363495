// A prompt seen through a model: tokens, the view, the table of the next token, two views side by side.
#include <fmt/format.h>

#include <algorithm>

#include "sluice/analysis/view_difference.h"
#include "sluice/base/json_text.h"
#include "sluice/base/stopwatch.h"
#include "sluice/serve/explorer_state.h"
#include "sluice/serve/sampler_keys.h"
#include "sluice/serve/token_json.h"

namespace sluice::serve {
namespace {

using nlohmann::ordered_json;

constexpr int64_t kUsualRows = 20;

size_t rows_of(const Json& json) {
  return static_cast<size_t>(
      json.integer_or("count", kUsualRows, {1, static_cast<int64_t>(ViewStore::kMaxRows)}));
}

// The view that a computation needs, and how it came to be there.
struct ViewInTurn {
  ViewHandle view;
  bool cached;
};

ViewInTurn obtained(ExplorerState& state, const Subject& subject, const Turn& turn) {
  const auto [view, cached] = state.views.obtain(subject, state.shelf, turn.control);
  ++(cached ? state.metrics.views_cached : state.metrics.views_computed);
  return {view, cached};
}

ordered_json sinks_json(const PromptView& a, const PromptView& b) {
  ordered_json sinks = ordered_json::array();
  if (a.layers.size() != b.layers.size()) return {};
  for (size_t l = 0; l < a.layers.size(); ++l) {
    const auto& first = a.layers[l].attention.by_head;
    const auto& second = b.layers[l].attention.by_head;
    if (first.size() != second.size()) return {};
    std::vector<double> changes;
    for (size_t h = 0; h < first.size(); ++h)
      changes.push_back(shortest_number(static_cast<float>(second[h].key.mean() - first[h].key.mean())));
    sinks.push_back({{"layer", l}, {"by_head", changes}});
  }
  return sinks;
}

// What predictions have to do with; all null if they cannot be compared.
void add_predictions(ordered_json& json, const ViewDifference& difference, const StoredView& a) {
  if (!difference.why_not.empty()) {
    json["why_not"] = difference.why_not;
    for (const char* key : {"kl", "kl_mean", "kl_last", "agreement", "changed", "next"}) json[key] = nullptr;
    return;
  }
  ordered_json kl = ordered_json::array(), changed = ordered_json::array(), next = ordered_json::array();
  for (const double each : difference.kl) kl.push_back(shortest_or_null(each));
  for (const ChangedToken& token : difference.changed)
    changed.push_back({{"position", token.position},
                       {"a", predicted_json(a.model, token.a)},
                       {"b", predicted_json(a.model, token.b)}});
  for (const ProbabilityChange& change : difference.next)
    next.push_back({{"id", change.id},
                    {"token", token_json(a.model, change.id)},
                    {"a", shortest_or_null(change.a)},
                    {"b", shortest_or_null(change.b)},
                    {"change", shortest_or_null(change.b - change.a)}});
  json["why_not"] = nullptr;
  json["kl"] = std::move(kl);
  json["kl_mean"] = shortest_or_null(difference.mean_kl());
  json["kl_last"] = shortest_or_null(difference.kl.back());
  json["agreement"] = shortest_or_null(difference.agreement);
  json["changed"] = std::move(changed);
  json["next"] = std::move(next);
}

ordered_json difference_json(const ViewDifference& difference, const StoredView& a, const StoredView& b) {
  ordered_json json;
  add_predictions(json, difference, a);
  json["nll"] = shortest_or_null(b.view.nll() - a.view.nll());
  json["sink"] = shortest_or_null(b.view.sink().mean() - a.view.sink().mean());
  json["sinks"] = sinks_json(a.view, b.view);
  return json;
}

}  // namespace

ordered_json to_json(const ViewTiming& timing) {
  return {{"cached", timing.cached}, {"waited_s", timing.waited_s}, {"computed_s", timing.computed_s}};
}

ordered_json view_json(const StoredView& stored, size_t rows) {
  ordered_json json = {
      {"view", stored.name}, {"model", stored.model_id}, {"interventions", stored.change_texts}};
  json.update(to_json(stored.view));
  ordered_json top = ordered_json::array();
  for (const NextTokens::Row& row : stored.next.top)
    if (top.size() < rows) top.push_back(predicted_json(stored.model, row.token));
  json["next"] = {{"position", stored.next.position},
                  {"entropy", shortest_or_null(stored.next.entropy)},
                  {"top", std::move(top)}};
  return json;
}

Answer answer_tokenize(ExplorerState& state, const HttpRequest& request) {
  const Json json = body_of(request);
  json.allow_keys({"model", "prompt"});
  const Subject subject = read_subject(json, state.shelf, state.rules());
  return Computation{
      .kind = "tokenize", .model = subject.model->id, .whole = [&state, subject](const Turn& turn) {
        const LoadedModel& model = state.shelf.load(*subject.model, turn.control);
        const std::vector<TokenId> ids = ids_of(subject, model);
        ordered_json tokens = ordered_json::array();
        for (const TokenId id : ids) tokens.push_back(token_json(model, id));
        return json_response({{"ids", ids}, {"tokens", std::move(tokens)}});
      }};
}

Answer answer_view(ExplorerState& state, const HttpRequest& request) {
  const Json json = body_of(request);
  json.allow_keys({"model", "prompt", "ids", "interventions", "count"});
  const size_t rows = rows_of(json);
  const Subject subject = read_subject(json, state.shelf, state.rules());
  const auto answer = [rows](const StoredView& view, const ViewTiming& timing) {
    ordered_json result = view_json(view, rows);
    result["timing"] = to_json(timing);
    return json_response(result);
  };
  if (const ViewHandle view = state.views.find(subject)) {
    ++state.metrics.views_cached;
    return answer(*view, {});
  }
  return Computation{
      .kind = "view", .model = subject.model->id, .whole = [&state, subject, answer](const Turn& turn) {
        const Stopwatch watch;
        const ViewInTurn made = obtained(state, subject, turn);
        return answer(*made.view, {made.cached, turn.waited_s, watch.seconds()});
      }};
}

Answer answer_next(ExplorerState& state, const HttpRequest& request) {
  const Json json = body_of(request);
  json.allow_keys({"model", "prompt", "ids", "interventions", "count", "position", "temperature", "top_k",
                   "top_p", "min_p"});
  const Subject subject = read_subject(json, state.shelf, state.rules());
  const int64_t position = json.integer_or("position", -1, {0, 1 << 20});
  NextTokensRequest wanted{
      .position = position, .count = rows_of(json), .sampler = read_sampler(json, {.temperature = 1.0})};
  return Computation{
      .kind = "next", .model = subject.model->id, .whole = [&state, subject, wanted](const Turn& turn) {
        const ViewHandle view = obtained(state, subject, turn).view;
        NextTokensRequest here = wanted;
        here.packing = view->packing;
        if (here.position < 0) here.position = view->view.length() - 1;
        const NextTokens next = next_tokens(view->model, view->view, here);
        ordered_json top = ordered_json::array();
        for (const NextTokens::Row& row : next.top) {
          top.push_back(predicted_json(view->model, row.token));
          top.back()["sampled"] = shortest_number(static_cast<float>(row.sampled));
        }
        return json_response({{"view", view->name},
                              {"position", next.position},
                              {"entropy", shortest_or_null(next.entropy)},
                              {"top", std::move(top)}});
      }};
}

Answer answer_compare(ExplorerState& state, const HttpRequest& request) {
  const Json json = body_of(request);
  json.allow_keys({"a", "b", "count"});
  const auto subject_at = [&](const char* key) {
    const Json part = json.at(key);
    part.allow_keys({"model", "prompt", "ids", "interventions"});
    return read_subject(part, state.shelf, state.rules());
  };
  const Subject first = subject_at("a"), second = subject_at("b");
  const size_t rows = rows_of(json);
  return Computation{
      .kind = "compare", .model = second.model->id, .whole = [&state, first, second, rows](const Turn& turn) {
        const Stopwatch watch;
        const ViewInTurn a = obtained(state, first, turn), b = obtained(state, second, turn);
        const ViewDifference difference =
            compare_views({a.view->model, a.view->view, a.view->packing},
                          {b.view->model, b.view->view, b.view->packing}, rows, turn.control);
        const ViewTiming timing{a.cached && b.cached, turn.waited_s, watch.seconds()};
        return json_response({{"a", view_json(*a.view, rows)},
                              {"b", view_json(*b.view, rows)},
                              {"difference", difference_json(difference, *a.view, *b.view)},
                              {"timing", to_json(timing)}});
      }};
}

}  // namespace sluice::serve
