#include "sluice/analysis/prompt_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sluice/analysis/distribution.h"
#include "sluice/analysis/prompt_map.h"
#include "sluice/base/error.h"
#include "sluice/eval/perplexity.h"
#include "sluice/infer/nonfinite_tap.h"
#include "sluice/infer/positions.h"
#include "sluice/nn/tap_points.h"
#include "sluice/probe/capture.h"
#include "sluice/probe/probe_chain.h"

namespace sluice {
namespace {

constexpr size_t kHistogramParts = 40;

// Keeps what passes in one layer.
class LayerProbe : public Probe {
 public:
  bool wants(const TapName& name) const override {
    return name.point == points::kProbs || name.point == points::kSink || name.point == points::kEntropy ||
           gate_of(name.point) != nullptr;
  }

  Tensor visit(const Context& /*context*/, const TapName& name, const Tensor& value) override {
    detail.layer = name.layer;
    if (const GatePositionRow* row = gate_of(name.point)) {
      detail.gates.push_back({row->name, value});
    } else if (name.point == points::kProbs) {
      detail.probabilities = value;
    } else {
      (name.point == points::kSink ? sink : entropy) = value;
    }
    return value;
  }

  LayerDetail detail;
  Tensor sink, entropy;  // [T, H]

 private:
  static const GatePositionRow* gate_of(std::string_view point) {
    const auto found =
        std::ranges::find(kGatePositionRows, point, [](const GatePositionRow& row) { return row.tap.name; });
    return found == kGatePositionRows.end() ? nullptr : &*found;
  }
};

// Values of a gate as they come, and those of the first token apart.
struct GateValues {
  Distribution all;
  Moments first, others;

  void add(std::span<const float> values, size_t first_token) {
    all.add(values);
    for (const float value : values.first(first_token)) first.add(value);
    for (const float value : values.subspan(first_token)) others.add(value);
  }

  GateSummary summary() const {
    return {.mean = all.moments().mean(),
            .first = first.mean(),
            .others = others.mean(),
            .closed = all.closed(),
            .open = all.open(),
            .lowest = all.lowest(),
            .highest = all.highest(),
            .histogram = all.histogram(0, 1, kHistogramParts)};
  }
};

// [H, T, T] → [H, T]
std::vector<float> received_by_head(const Tensor& probabilities, const Threads& threads) {
  const int64_t heads = probabilities.shape()[0], tokens = probabilities.shape()[1];
  std::vector<float> received(static_cast<size_t>(heads * tokens));
  threads.each(heads, [&](int64_t head) {
    const float* row = probabilities.data<float>() + head * tokens * tokens;
    float* sums = received.data() + head * tokens;
    for (int64_t query = 0; query < tokens; ++query, row += tokens)
      for (int64_t key = 0; key <= query; ++key) sums[key] += row[key];
    for (int64_t key = 0; key < tokens; ++key) sums[key] /= static_cast<float>(tokens - key);
  });
  return received;
}

std::vector<Thumbnail> attention_thumbnails(const Tensor& probabilities, const Threads& threads) {
  const int64_t heads = probabilities.shape()[0], tokens = probabilities.shape()[1];
  std::vector<Thumbnail> thumbnails(static_cast<size_t>(heads));
  threads.each(heads, [&](int64_t head) {
    thumbnails[static_cast<size_t>(head)] =
        thumbnail_of({.values = probabilities.data<float>() + head * tokens * tokens,
                      .rows = tokens,
                      .columns = tokens,
                      .row_stride = tokens},
                     Reduction::Maximum);
  });
  return thumbnails;
}

// Of [T, H, w].
ViewGate view_gate(const LayerDetail::Gate& gate) {
  const Shape& shape = gate.values.shape();
  ViewGate view{.position = gate.position, .heads = shape[1], .width = shape[2]};
  const auto values = gate.values.values<float>();
  GateValues spread;
  spread.add(values, static_cast<size_t>(view.heads * view.width));
  view.summary = spread.summary();
  const auto width = static_cast<size_t>(view.width);
  for (size_t first = 0; first < values.size(); first += width)
    view.by_token.push_back(static_cast<float>(Moments::of(values.subspan(first, width)).mean()));
  for (int64_t head = 0; head < view.heads; ++head)
    view.thumbnails.push_back(thumbnail_of({.values = values.data() + head * view.width,
                                            .rows = shape[0],
                                            .columns = view.width,
                                            .row_stride = view.heads * view.width},
                                           Reduction::Mean));
  return view;
}

void measure_stream(ViewLayer& layer, const Tensor& stream) {
  const auto values = stream.values<float>();
  const auto absolute = [](float value) { return std::abs(value); };
  const auto largest = std::ranges::max_element(values, {}, absolute);
  const int64_t index = largest - values.begin();
  layer.largest = std::abs(*largest);
  layer.largest_position = index / stream.cols();
  layer.largest_channel = index % stream.cols();
  double sum = 0;
  for (const float value : values) sum += std::abs(value);
  layer.mean_absolute = sum / static_cast<double>(values.size());
}

ViewLayer view_layer(const LayerProbe& probe, const Tensor& output, const Threads& threads) {
  ViewLayer layer{.layer = probe.detail.layer};
  layer.attention.layer = layer.layer;
  if (probe.detail.probabilities.defined()) {
    add_key_attention(layer.attention, probe.sink, Sequences::equal(1, output.rows()));
    add_entropy(layer.attention, probe.entropy);
    layer.received = received_by_head(probe.detail.probabilities, threads);
    layer.thumbnails = attention_thumbnails(probe.detail.probabilities, threads);
  }
  for (const LayerDetail::Gate& gate : probe.detail.gates) layer.gates.push_back(view_gate(gate));
  measure_stream(layer, output);
  return layer;
}

void check_prompt(const LoadedModel& model, std::span<const TokenId> ids) {
  check_ids(model, ids);
  if (ids.size() <= kMaxPromptTokens) return;
  throw usage_error({.what = "the prompt is too long to be shown token by token",
                     .expected = fmt::format("at most {} tokens", kMaxPromptTokens),
                     .got = std::to_string(ids.size())});
}

// Over all layers, by position in the order of the first layer that has it.
class AllGates {
 public:
  void add(const LayerDetail& detail) {
    for (const LayerDetail::Gate& gate : detail.gates) {
      auto found = std::ranges::find(gates_, gate.position, &Entry::first);
      if (found == gates_.end()) found = gates_.insert(gates_.end(), {gate.position, {}});
      found->second.add(gate.values.values<float>(),
                        static_cast<size_t>(gate.values.shape()[1] * gate.values.shape()[2]));
    }
  }

  std::vector<std::pair<std::string_view, GateSummary>> summaries() const {
    std::vector<std::pair<std::string_view, GateSummary>> all;
    for (const auto& [position, values] : gates_) all.emplace_back(position, values.summary());
    return all;
  }

 private:
  using Entry = std::pair<std::string_view, GateValues>;
  std::vector<Entry> gates_;
};

// Of logits that an intervention changes: it has to see those of all tokens at once.
void add_changed_surprise(const Context& context, const Decoder& decoder, PromptView& view) {
  const Tensor logits = decoder.logits(context, Var(view.hidden)).value();
  for (size_t i = 1; i < view.ids.size(); ++i) {
    const std::span<const float> row(logits.data<float>() + static_cast<int64_t>(i - 1) * logits.cols(),
                                     static_cast<size_t>(logits.cols()));
    const double largest = *std::ranges::max_element(row);
    double sum = 0;
    for (const float logit : row) sum += std::exp(logit - largest);
    view.surprise.push_back(
        static_cast<float>(largest + std::log(sum) - row[static_cast<size_t>(view.ids[i])]));
  }
}

void run_layers(const LoadedModel& model, const PromptViewRequest& request, Intervener& intervener,
                PromptView& view, const JobControl& control) {
  const Decoder& decoder = model.decoder();
  LayerProbe probe;
  ProbeChain chain({&intervener, &probe});
  const Context context = model.context(&chain, request.packing);
  const Pass pass = decoder.begin(context, Sequences::equal(1, view.length()));
  AllGates gates;
  Var x = decoder.embed(context, view.ids);
  view.streams.push_back(x.value());
  for (int64_t layer = 0; layer < decoder.layers(); ++layer) {
    control.stop_if_cancelled();
    probe = {};
    probe.detail.layer = layer;
    x = decoder.run(context, x, pass, {layer, layer + 1}).y;
    view.streams.push_back(x.value());
    if (!is_finite(x.value()))
      throw not_finite("what the model says of the prompt is", context, decoder, view.ids)
          .inside(model.path().string());
    view.layers.push_back(view_layer(probe, x.value(), model.engine().threads()));
    gates.add(probe.detail);
    if (request.seen) request.seen(std::move(probe.detail));
    control.report("layers", layer + 1, decoder.layers());
  }
  view.gates = gates.summaries();
  view.hidden = decoder.finish(context, x).value();
  view.surprise = {std::numeric_limits<float>::quiet_NaN()};
  if (is_probed(context, {TapName::kNoLayer, points::kLogits})) {
    add_changed_surprise(context, decoder, view);
  } else {
    const std::vector<float> losses = next_token_losses(context, decoder, view.hidden, view.ids);
    view.surprise.insert(view.surprise.end(), losses.begin(), losses.end());
  }
}

}  // namespace

size_t LayerDetail::bytes() const {
  size_t bytes = probabilities.defined() ? probabilities.bytes() : 0;
  for (const Gate& gate : gates) bytes += gate.values.bytes();
  return bytes;
}

size_t PromptView::bytes() const {
  size_t bytes = hidden.bytes();
  for (const Tensor& stream : streams) bytes += stream.bytes();
  for (const ViewLayer& layer : layers) {
    bytes += layer.received.size() * sizeof(float);
    for (const Thumbnail& each : layer.thumbnails) bytes += each.codes.size();
    for (const ViewGate& gate : layer.gates) {
      bytes += gate.by_token.size() * sizeof(float);
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
