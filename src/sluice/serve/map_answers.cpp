// Attention and gates as maps: of one layer, or small ones of many.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "sluice/probe/index_set.h"
#include "sluice/serve/explorer_state.h"
#include "sluice/serve/map_format.h"

namespace sluice::serve {
namespace {

enum class MapKind { Attention, Gates, Channels, Received };
constexpr Choice<MapKind> kMapKinds[] = {{"attention", MapKind::Attention},
                                         {"gates", MapKind::Gates},
                                         {"channels", MapKind::Channels},
                                         {"received", MapKind::Received}};
constexpr Choice<MapKind> kGridKinds[] = {{"attention", MapKind::Attention}, {"gates", MapKind::Gates}};
constexpr Choice<MapType> kMapTypes[] = {{"f32", MapType::F32}, {"f16", MapType::F16}, {"u8", MapType::U8}};

struct WantedMap {
  MapKind kind = MapKind::Attention;
  int64_t layer = 0;
  std::optional<int64_t> head = {};
  std::string position = {};  // of the gate
  MapType type = MapType::F16;

  bool needs_detail() const { return kind == MapKind::Attention || kind == MapKind::Channels; }
};

std::string gate_position(const Json& json, const ModelConfig& config) {
  const std::string first = config.gates.empty() ? "" : std::string(config.gates.front().position->name);
  return json.text_or("position", first);
}

WantedMap read_map(const Json& json, const ModelConfig& config) {
  WantedMap wanted{.kind = json.choice<MapKind>("kind", kMapKinds),
                   .layer = json.integer("layer", {0, config.layers - 1}),
                   .position = gate_position(json, config),
                   .type = json.choice_or<MapType>("type", MapType::F16, kMapTypes)};
  const bool takes_head = wanted.needs_detail();
  if (json.contains("head")) {
    if (!takes_head) throw json.at("head").unexpected("none, since this kind has all heads");
    wanted.head = json.integer("head", {0, (1 << 20)});
  } else if (wanted.kind == MapKind::Channels) {
    throw HttpError(400, "head: channels are of one head", "head");
  }
  return wanted;
}

[[noreturn]] void refuse_missing(const char* what, int64_t layer) {
  throw HttpError(400, fmt::format("layer {} has no {}", layer, what), "layer");
}

void check_head(int64_t head, int64_t heads) {
  if (head >= heads)
    throw HttpError(400, fmt::format("head: expected 0 to {}, got {}", heads - 1, head), "head");
}

const ViewGate& gate_in(const ViewLayer& layer, const std::string& position) {
  const auto found = std::ranges::find(layer.gates, position, &ViewGate::position);
  if (found == layer.gates.end()) refuse_missing("such gate", layer.layer);
  return *found;
}

// [H, T, T] → [T, T] of a head, or the mean over all.
std::vector<float> attention_of(const LayerDetail& detail, std::optional<int64_t> head) {
  if (!detail.probabilities.defined()) refuse_missing("attention", detail.layer);
  const int64_t heads = detail.probabilities.shape()[0];
  const auto size = static_cast<size_t>(detail.probabilities.count() / heads);
  const auto values = detail.probabilities.values<float>();
  if (head) {
    check_head(*head, heads);
    const auto own = values.subspan(static_cast<size_t>(*head) * size, size);
    return {own.begin(), own.end()};
  }
  std::vector<float> mean(size);
  for (size_t i = 0; i < values.size(); ++i) mean[i % size] += values[i] / static_cast<float>(heads);
  return mean;
}

// [T, H, w] → [T, w] of a head.
std::vector<float> channels_of(const LayerDetail& detail, const WantedMap& wanted) {
  const auto found = std::ranges::find(detail.gates, wanted.position, &LayerDetail::Gate::position);
  if (found == detail.gates.end()) refuse_missing("such gate", detail.layer);
  const Shape& shape = found->values.shape();
  check_head(*wanted.head, shape[1]);
  std::vector<float> channels;
  for (int64_t token = 0; token < shape[0]; ++token) {
    const float* first = found->values.data<float>() + (token * shape[1] + *wanted.head) * shape[2];
    channels.insert(channels.end(), first, first + shape[2]);
  }
  return channels;
}

// `detail` is there if the kind needs it.
HttpResponse cut_map(const StoredView& stored, const WantedMap& wanted, const LayerDetail* detail) {
  const ViewLayer& layer = stored.view.layers[static_cast<size_t>(wanted.layer)];
  std::vector<float> values;
  switch (wanted.kind) {
    case MapKind::Attention:
      values = attention_of(*detail, wanted.head);
      break;
    case MapKind::Channels:
      values = channels_of(*detail, wanted);
      break;
    case MapKind::Gates:
      values = gate_in(layer, wanted.position).by_token;
      break;
    case MapKind::Received:
      values = layer.received;
      if (values.empty()) refuse_missing("attention", layer.layer);
      break;
  }
  const int64_t tokens = stored.view.length(), others = std::ssize(values) / tokens;
  MapBlock block{.rows = tokens, .columns = others, .type = wanted.type};
  if (wanted.kind == MapKind::Received) std::swap(block.rows, block.columns);
  block.add({.layer = wanted.layer, .head = wanted.head}, values);
  return map_response(block, stored.name, word_for(kMapKinds, wanted.kind));
}

struct WantedGrid {
  MapKind kind = MapKind::Attention;
  IndexSet layers = {};
  std::string position = {};
};

// The thumbnails of a layer that are asked for; none if it has no such thing.
std::span<const Thumbnail> thumbnails_of(const ViewLayer& layer, const WantedGrid& wanted) {
  if (!wanted.layers.contains(layer.layer)) return {};
  if (wanted.kind == MapKind::Attention) return layer.thumbnails;
  const auto gate = std::ranges::find(layer.gates, wanted.position, &ViewGate::position);
  if (gate == layer.gates.end()) return {};
  return gate->thumbnails;
}

// A headwise gate in a model that has elementwise ones, too: its one column is repeated.
Thumbnail widened(Thumbnail thumbnail, int64_t columns) {
  if (thumbnail.columns == columns) return thumbnail;
  std::vector<uint8_t> codes;
  for (const uint8_t code : thumbnail.codes) codes.insert(codes.end(), static_cast<size_t>(columns), code);
  thumbnail.codes = std::move(codes);
  thumbnail.columns = columns;
  return thumbnail;
}

HttpResponse cut_grid(const StoredView& stored, const WantedGrid& wanted) {
  MapBlock block{.type = MapType::U8};
  for (const ViewLayer& layer : stored.view.layers) {
    for (const Thumbnail& each : thumbnails_of(layer, wanted)) {
      block.rows = each.rows;
      block.columns = std::max(block.columns, each.columns);
    }
  }
  for (const ViewLayer& layer : stored.view.layers) {
    int64_t head = 0;
    for (const Thumbnail& each : thumbnails_of(layer, wanted))
      block.add({.layer = layer.layer, .head = head++}, widened(each, block.columns));
  }
  return map_response(block, stored.name, word_for(kMapKinds, wanted.kind));
}

}  // namespace

Answer answer_map(ExplorerState& state, const HttpRequest& request) {
  const Json json = body_of(request);
  json.allow_keys({"model", "prompt", "ids", "interventions", "layer", "head", "kind", "type", "position"});
  const Subject subject = read_subject(json, state.shelf, state.rules());
  const WantedMap wanted = read_map(json, subject.model->known_config());
  if (const ViewHandle view = state.views.find(subject)) {
    if (!wanted.needs_detail()) return cut_map(*view, wanted, nullptr);
    if (const DetailHandle detail = state.views.find_layer(*view, wanted.layer))
      return cut_map(*view, wanted, detail.get());
  }
  return Computation{
      .kind = "map", .model = subject.model->id, .whole = [&state, subject, wanted](const Turn& turn) {
        const ViewHandle view = state.views.obtain(subject, state.shelf, turn.control).view;
        if (!wanted.needs_detail()) return cut_map(*view, wanted, nullptr);
        return cut_map(*view, wanted, state.views.obtain_layer(*view, wanted.layer).get());
      }};
}

Answer answer_grid(ExplorerState& state, const HttpRequest& request) {
  const Json json = body_of(request);
  json.allow_keys({"model", "prompt", "ids", "interventions", "kind", "layers", "position"});
  const Subject subject = read_subject(json, state.shelf, state.rules());
  const WantedGrid wanted{.kind = json.choice<MapKind>("kind", kGridKinds),
                          .layers = IndexSet::parse(json.text_or("layers", "*")),
                          .position = gate_position(json, subject.model->known_config())};
  if (const ViewHandle view = state.views.find(subject)) return cut_grid(*view, wanted);
  return Computation{
      .kind = "grid", .model = subject.model->id, .whole = [&state, subject, wanted](const Turn& turn) {
        return cut_grid(*state.views.obtain(subject, state.shelf, turn.control).view, wanted);
      }};
}

}  // namespace sluice::serve
