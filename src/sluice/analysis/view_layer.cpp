#include "sluice/analysis/view_layer.h"

#include <algorithm>
#include <cmath>

#include "sluice/nn/tap_points.h"

namespace sluice {
namespace {

constexpr size_t kHistogramParts = 40;

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
ViewGate view_gate(const LayerDetail::Gate& gate, const Threads& threads) {
  const Shape& shape = gate.values.shape();
  ViewGate view{.position = gate.position, .heads = shape[1], .width = shape[2]};
  const auto values = gate.values.values<float>();
  const auto width = static_cast<size_t>(view.width);
  view.by_token.resize(values.size() / width);
  view.thumbnails.resize(static_cast<size_t>(view.heads));
  const auto head_part = [&](int64_t head) {
    for (auto i = static_cast<size_t>(head); i < view.by_token.size(); i += static_cast<size_t>(view.heads))
      view.by_token[i] = static_cast<float>(Moments::of(values.subspan(i * width, width)).mean());
    view.thumbnails[static_cast<size_t>(head)] = thumbnail_of({.values = values.data() + head * view.width,
                                                               .rows = shape[0],
                                                               .columns = view.width,
                                                               .row_stride = view.heads * view.width},
                                                              Reduction::Mean);
  };
  // The spread beside the heads: it is one sum in one order, and as much work as all of them.
  auto spread = std::make_shared<GateSpread>();
  threads.each(view.heads + 1, [&](int64_t part) {
    if (part > 0) return head_part(part - 1);
    spread->add(values, static_cast<size_t>(view.heads * view.width));
    view.summary = spread->summary();
  });
  view.spread = std::move(spread);
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

}  // namespace

bool LayerProbe::wants(const TapName& name) const {
  return name.point == points::kProbs || name.point == points::kSink || name.point == points::kEntropy ||
         gate_row_at(name.point) != nullptr;
}

Tensor LayerProbe::visit(const Context& /*context*/, const TapName& name, const Tensor& value) {
  detail.layer = name.layer;
  if (const GatePositionRow* row = gate_row_at(name.point)) {
    detail.gates.push_back({row->name, value});
  } else if (name.point == points::kProbs) {
    detail.probabilities = value;
  } else {
    (name.point == points::kSink ? sink : entropy) = value;
  }
  return value;
}

void GateSpread::add(std::span<const float> values, size_t first_token) {
  all.add(values);
  for (const float value : values.first(first_token)) first.add(value);
  for (const float value : values.subspan(first_token)) others.add(value);
}

void GateSpread::add(const GateSpread& other) {
  all.add(other.all);
  first.add(other.first);
  others.add(other.others);
}

GateSummary GateSpread::summary() const {
  return {.mean = all.moments().mean(),
          .first = first.mean(),
          .others = others.mean(),
          .closed = all.closed(),
          .open = all.open(),
          .lowest = all.lowest(),
          .highest = all.highest(),
          .histogram = all.histogram(0, 1, kHistogramParts)};
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
  for (const LayerDetail::Gate& gate : probe.detail.gates) layer.gates.push_back(view_gate(gate, threads));
  measure_stream(layer, output);
  return layer;
}

std::vector<std::pair<std::string_view, GateSummary>> gates_of_all(std::span<const ViewLayer> layers) {
  using Entry = std::pair<std::string_view, GateSpread>;
  std::vector<Entry> gates;
  for (const ViewLayer& layer : layers) {
    for (const ViewGate& gate : layer.gates) {
      auto found = std::ranges::find(gates, gate.position, &Entry::first);
      if (found == gates.end()) found = gates.insert(gates.end(), {gate.position, {}});
      found->second.add(*gate.spread);
    }
  }
  std::vector<std::pair<std::string_view, GateSummary>> all;
  for (const auto& [position, values] : gates) all.emplace_back(position, values.summary());
  return all;
}

}  // namespace sluice
