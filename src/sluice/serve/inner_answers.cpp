// What happens inside: the logit lens, and the ranks of a head's linear maps.
#include <algorithm>

#include "sluice/analysis/head_rank.h"
#include "sluice/analysis/view_lens.h"
#include "sluice/base/json_text.h"
#include "sluice/serve/explorer_state.h"
#include "sluice/serve/token_json.h"

namespace sluice::serve {
namespace {

using nlohmann::ordered_json;

constexpr int64_t kUsualLensPositions = 64;

ordered_json lens_layer_json(const LoadedModel& model, const ViewLensLayer& lens) {
  ordered_json top = ordered_json::array(), surprise = ordered_json::array();
  for (const std::vector<PredictedToken>& tokens : lens.top) top.push_back(predicted_json(model, tokens));
  for (const float each : lens.surprise) surprise.push_back(shortest_or_null(each));
  return {{"layer", lens.layer},
          {"top", std::move(top)},
          {"surprise", std::move(surprise)},
          {"agreement", lens.agreement}};
}

struct WantedLens {
  int64_t first = -1, last = -1;  // -1: the last ones
  size_t count = 1;
};

HttpResponse lens_response(const StoredView& stored, const WantedLens& wanted, const JobControl& control) {
  const int64_t last = wanted.last < 0 ? stored.view.length() - 1 : wanted.last;
  const int64_t first =
      wanted.first < 0 ? std::max<int64_t>(0, last - kUsualLensPositions + 1) : wanted.first;
  const ViewLensRequest request{
      .positions = {first, last + 1}, .count = wanted.count, .packing = stored.packing};
  ordered_json layers = ordered_json::array();
  for (const ViewLensLayer& lens : view_lens(stored.model, stored.view, request, control))
    layers.push_back(lens_layer_json(stored.model, lens));
  return json_response(
      {{"view", stored.name}, {"first", first}, {"last", last}, {"layers", std::move(layers)}});
}

HttpResponse rank_response(ExplorerState& state, const StoredView& stored, const HeadRankRequest& request) {
  const DetailHandle detail = state.views.obtain_layer(stored, request.layer);
  const HeadRank rank = head_rank(stored.model, *detail, request);
  const ModelConfig& config = stored.model.config();
  return json_response({{"view", stored.name},
                        {"layer", request.layer},
                        {"head", request.head},
                        {"hidden", config.hidden},
                        {"head_dim", config.head_dim},
                        {"value", rank.value},
                        {"output", rank.output},
                        {"product", rank.product},
                        {"gates", rank.gates.empty() ? ordered_json() : ordered_json(rank.gates)},
                        {"ranks",
                         {{"value", rank_of(rank.value)},
                          {"output", rank_of(rank.output)},
                          {"product", rank_of(rank.product)},
                          {"gates", rank_of(rank.gates)}}}});
}

}  // namespace

Answer answer_lens(ExplorerState& state, const HttpRequest& request) {
  const Json json = body_of(request);
  json.allow_keys({"model", "prompt", "ids", "interventions", "first", "last", "count"});
  const Subject subject = read_subject(json, state.shelf, state.rules());
  const WantedLens wanted{.first = json.integer_or("first", -1, {0, 1 << 20}),
                          .last = json.integer_or("last", -1, {0, 1 << 20}),
                          .count = static_cast<size_t>(json.integer_or("count", 1, {1, 10}))};
  return Computation{
      .kind = "lens", .model = subject.model->id, .whole = [&state, subject, wanted](const Turn& turn) {
        const ViewHandle view = state.views.obtain(subject, state.shelf, turn.control).view;
        return lens_response(*view, wanted, turn.control);
      }};
}

Answer answer_rank(ExplorerState& state, const HttpRequest& request) {
  const Json json = body_of(request);
  json.allow_keys({"model", "prompt", "ids", "interventions", "layer", "head"});
  const Subject subject = read_subject(json, state.shelf, state.rules());
  const ModelConfig& config = subject.model->known_config();
  const HeadRankRequest wanted{.layer = json.integer("layer", {0, config.layers - 1}),
                               .head = json.integer("head", {0, config.heads - 1}),
                               .position = GatePosition::G1->name};
  return Computation{
      .kind = "rank", .model = subject.model->id, .whole = [&state, subject, wanted](const Turn& turn) {
        const ViewHandle view = state.views.obtain(subject, state.shelf, turn.control).view;
        return rank_response(state, *view, wanted);
      }};
}

}  // namespace sluice::serve
