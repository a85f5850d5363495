#include "sluice/analysis/prompt_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "sluice/analysis/prompt_map.h"
#include "sluice/analysis/view_layer.h"
#include "sluice/analysis/view_predictions.h"
#include "sluice/base/error.h"
#include "sluice/eval/perplexity.h"
#include "sluice/infer/nonfinite_tap.h"
#include "sluice/infer/positions.h"
#include "sluice/nn/tap_points.h"
#include "sluice/probe/capture.h"
#include "sluice/probe/probe_chain.h"

namespace sluice {
namespace {

void check_prompt(const LoadedModel& model, std::span<const TokenId> ids) {
  check_ids(model, ids);
  if (ids.size() <= kMaxPromptTokens) return;
  throw usage_error({.what = "the prompt is too long to be shown token by token",
                     .expected = fmt::format("at most {} tokens", kMaxPromptTokens),
                     .got = std::to_string(ids.size())});
}

// Of GateSpread: its bins.
constexpr auto kSpreadBytes =
    static_cast<size_t>((Distribution::kHigh - Distribution::kLow) * Distribution::kBinsPerUnit) *
    sizeof(int64_t);

// The first layer in which something is changed: 0 if it is before them, their number if it is behind.
int64_t first_changed_layer(std::span<const Intervention> interventions, int64_t layers) {
  int64_t first = layers;
  for (const Intervention& each : interventions) {
    if (each.tap.matches({TapName::kNoLayer, points::kEmbedding})) return 0;
    for (const TapPoint& point : points::kAll)
      for (int64_t layer = 0; layer < first; ++layer)
        if (point.place == TapPlace::Layer && each.tap.matches({layer, point})) first = layer;
  }
  return first;
}

// Layers before the first change are as they were.
void take_unchanged(const PromptViewRequest& request, int64_t layers, PromptView& view) {
  if (request.unchanged == nullptr) return;
  SLUICE_ASSERT(request.unchanged->ids == view.ids && request.unchanged->interventions.empty(),
                "view_prompt: not the same prompt, unchanged");
  const int64_t first = first_changed_layer(request.interventions, layers);
  if (first == 0) return;
  const auto& [streams, known] = std::tie(request.unchanged->streams, request.unchanged->layers);
  view.streams.assign(streams.begin(), streams.begin() + first + 1);
  view.layers.assign(known.begin(), known.begin() + first);
}

// Behind the final norm: what comes next, by logits if they are small enough to be kept or if an intervention
// wants to see those of all tokens at once.
void add_predictions(const Context& context, const Decoder& decoder, PromptView& view) {
  view.surprise = {std::numeric_limits<float>::quiet_NaN()};
  const bool is_kept = view.length() * decoder.config().vocabulary <= PromptView::kMostKeptPredictions;
  if (!is_kept && !is_probed(context, {TapName::kNoLayer, points::kLogits})) {
    const std::vector<float> losses = next_token_losses(context, decoder, view.hidden, view.ids);
    view.surprise.insert(view.surprise.end(), losses.begin(), losses.end());
    return;
  }
  const Tensor logits = decoder.logits(context, Var(view.hidden)).value();
  std::vector<TokenId> targets(view.ids.begin() + 1, view.ids.end());
  targets.push_back(0);  // behind the last token anything may come
  const std::vector<float> losses = normalise_logits(context, logits, targets);
  view.surprise.insert(view.surprise.end(), losses.begin(), losses.end() - 1);
  if (is_kept) view.log_probabilities = logits;
}

void run_layers(const LoadedModel& model, const PromptViewRequest& request, Intervener& intervener,
                PromptView& view, const JobControl& control) {
  const Decoder& decoder = model.decoder();
  LayerProbe probe;
  ProbeChain chain({&intervener, &probe});
  const Context context = model.context(&chain, request.packing);
  const Pass pass = decoder.begin(context, Sequences::equal(1, view.length()));
  take_unchanged(request, decoder.layers(), view);
  if (view.streams.empty()) view.streams.push_back(decoder.embed(context, view.ids).value());
  Var x(view.streams.back());
  for (int64_t layer = std::ssize(view.layers); layer < decoder.layers(); ++layer) {
    control.stop_if_cancelled();
    probe = {};
    probe.detail.layer = layer;
    x = decoder.run(context, x, pass, {layer, layer + 1}).y;
    view.streams.push_back(x.value());
    if (!is_finite(x.value()))
      throw not_finite("what the model says of the prompt is", context, decoder, view.ids)
          .inside(model.path().string());
    view.layers.push_back(view_layer(probe, x.value(), model.engine().threads()));
    if (request.seen) request.seen(std::move(probe.detail));
    control.report("layers", layer + 1, decoder.layers());
  }
  view.gates = gates_of_all(view.layers);
  view.hidden = decoder.finish(context, x).value();
  add_predictions(context, decoder, view);
}

}  // namespace

size_t LayerDetail::bytes() const {
  size_t bytes = probabilities.defined() ? probabilities.bytes() : 0;
  for (const Gate& gate : gates) bytes += gate.values.bytes();
  return bytes;
}

size_t PromptView::bytes() const {
  size_t bytes = hidden.bytes() + (log_probabilities.defined() ? log_probabilities.bytes() : 0);
  for (const Tensor& stream : streams) bytes += stream.bytes();
  for (const ViewLayer& layer : layers) {
    bytes += layer.received.size() * sizeof(float);
    for (const Thumbnail& each : layer.thumbnails) bytes += each.codes.size();
    for (const ViewGate& gate : layer.gates) {
      bytes += gate.by_token.size() * sizeof(float) + kSpreadBytes;
      for (const Thumbnail& each : gate.thumbnails) bytes += each.codes.size();
    }
  }
  return bytes;
}

double PromptView::nll() const {
  return Moments::of(std::span(surprise).subspan(1)).mean();
}

KeyAttention PromptView::sink() const {
  KeyAttention sum;
  for (const ViewLayer& layer : layers) sum.add(layer.attention.all());
  return sum;
}

PromptView view_prompt(const LoadedModel& model, const PromptViewRequest& request,
                       const JobControl& control) {
  check_prompt(model, request.ids);
  warn_beyond_positions(model.config(), "the prompt has", std::ssize(request.ids), control);
  PromptView view{.ids = request.ids, .interventions = request.interventions};
  Intervener intervener(request.interventions);
  run_layers(model, request, intervener, view, control);
  intervener.check_effect();
  if (model.has_tokenizer())
    for (const TokenId id : view.ids) view.tokens.push_back(model.decode({&id, 1}));
  return view;
}

LayerDetail layer_detail(const LoadedModel& model, const PromptView& view, int64_t layer, Packing packing) {
  SLUICE_ASSERT(layer >= 0 && layer < model.decoder().layers(), "layer_detail: layer {}", layer);
  Intervener intervener(view.interventions);
  LayerProbe probe;
  ProbeChain chain({&intervener, &probe});
  const Context context = model.context(&chain, packing);
  const Pass pass = model.decoder().begin(context, Sequences::equal(1, view.length()));
  model.decoder().run(context, Var(view.streams[static_cast<size_t>(layer)]), pass, {layer, layer + 1});
  probe.detail.layer = layer;
  return std::move(probe.detail);
}

}  // namespace sluice
