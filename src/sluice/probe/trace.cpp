#include "sluice/probe/trace.h"

#include <algorithm>

#include "sluice/probe/probe_chain.h"
#include "sluice/probe/recorder.h"

namespace sluice {
namespace {

// Tensors of one shape, one after the other along a new first axis.
Tensor stacked(const Context& context, const std::vector<Tensor>& parts) {
  std::vector<int64_t> dims = {static_cast<int64_t>(parts.size())};
  const Shape& shape = parts.front().shape();
  for (int axis = 0; axis < shape.rank(); ++axis) dims.push_back(shape[axis]);
  Tensor all = context.empty(Shape(dims), DType::F32);
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto values = parts[i].values<float>();
    std::ranges::copy(values, all.data<float>() + i * values.size());
  }
  return all;
}

}  // namespace

Trace trace(const Context& context, Decoder& decoder, std::span<const int32_t> ids) {
  SLUICE_ASSERT(!ids.empty(), "trace: no tokens");
  const auto tokens = static_cast<int64_t>(ids.size());
  Recorder recorder({TapPattern(points::kEmbedding), TapPattern(points::kResidual),
                     TapPattern(points::kProbs), TapPattern(points::kGate)});
  ProbeChain chain({context.probe, &recorder});
  const Context watched{context.engine, nullptr, &chain};
  const Tensor input = Tensor::from<int32_t>(context.engine.pool(), {tokens}, ids);
  const Var hidden = decoder.hidden(watched, input, decoder.place(context, Sequences::equal(1, tokens)));

  Trace result;
  result.logits = decoder.logits(watched, hidden).value();
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
  if (!gates.empty()) result.gates = stacked(context, gates);
  return result;
}

}  // namespace sluice
