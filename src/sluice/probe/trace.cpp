#include "sluice/probe/trace.h"

#include <algorithm>

#include "sluice/infer/forward_pass.h"
#include "sluice/probe/probe_chain.h"
#include "sluice/probe/recorder.h"

namespace sluice {
namespace {

// Tensors of one shape, one after the other along a new first axis.
Tensor stacked(const Context& context, const std::vector<Tensor>& parts) {
  std::vector<int64_t> dims = {static_cast<int64_t>(parts.size())};
  const Shape& shape = parts.front().shape();
  for (const Tensor& part : parts) {
    SLUICE_ASSERT(part.shape() == shape, "trace: {} among {}", part.shape().text(), shape.text());
  }
  for (int axis = 0; axis < shape.rank(); ++axis) dims.push_back(shape[axis]);
  Tensor all = context.empty(Shape(dims), DType::F32);
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto values = parts[i].values<float>();
    std::ranges::copy(values, all.data<float>() + i * values.size());
  }
  return all;
}

// Gates of a model that has both kinds: a headwise one is written for every channel of its head.
std::vector<Tensor> of_one_width(const Context& context, const std::vector<Tensor>& gates) {
  int64_t width = 1;
  for (const Tensor& gate : gates) width = std::max(width, gate.shape()[2]);
  std::vector<Tensor> wide;
  for (const Tensor& gate : gates) {
    const int64_t repeats = width / gate.shape()[2];
    Tensor all = context.empty({gate.shape()[0], gate.shape()[1], width}, DType::F32);
    float* y = all.data<float>();
    for (const float value : gate.values<float>()) y = std::fill_n(y, repeats, value);
    wide.push_back(repeats == 1 ? gate : all);
  }
  return wide;
}

}  // namespace

Trace trace(const Context& context, const Decoder& decoder, std::span<const int32_t> ids) {
  SLUICE_ASSERT(!ids.empty(), "trace: no tokens");
  Recorder recorder({TapPattern(points::kEmbedding), TapPattern(points::kResidual),
                     TapPattern(points::kProbs), TapPattern(points::kGate)});
  ProbeChain chain({context.probe, &recorder});
  const Context probed = context.with_probe(&chain);
  const Var hidden = hidden_states(probed, decoder, ids);

  Trace result;
  result.logits = decoder.logits(probed, hidden).value();
  std::vector<Tensor> residuals = recorder.at({TapName::kNoLayer, points::kEmbedding});
  std::vector<Tensor> probs, gates;
  for (int64_t layer = 0; layer < decoder.config().layers; ++layer) {
    residuals.push_back(recorder.at({layer, points::kResidual}).front());
    probs.push_back(recorder.at({layer, points::kProbs}).front());
    for (const Tensor& gate : recorder.at({layer, points::kGate})) {
      gates.push_back(gate);
      result.gate_layers.push_back(layer);
    }
  }
  result.hidden = stacked(context, residuals);
  result.attn = stacked(context, probs);
  if (!gates.empty()) result.gates = stacked(context, of_one_width(context, gates));
  return result;
}

}  // namespace sluice
