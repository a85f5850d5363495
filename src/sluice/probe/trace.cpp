#include "sluice/probe/trace.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/error.h"
#include "sluice/infer/nonfinite_tap.h"
#include "sluice/infer/positions.h"
#include "sluice/io/safetensors_writer.h"
#include "sluice/probe/capture.h"
#include "sluice/probe/probe_chain.h"

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

Trace trace(const Context& context, const Decoder& decoder, std::span<const TokenId> ids,
            const JobControl& control) {
  SLUICE_ASSERT(!ids.empty(), "trace: no tokens");
  Recorder recorder({TapPattern(points::kEmbedding), TapPattern(points::kResidual),
                     TapPattern(points::kProbs), TapPattern(points::kGate)});
  ProbeChain chain({context.probe, &recorder});
  const Context probed = context.with_probe(&chain);
  const Var hidden = hidden_states(probed, decoder, ids, control);

  Trace result;
  result.logits = decoder.logits(probed, hidden).value();
  std::vector<Tensor> residuals = recorder.at({TapName::kNoLayer, points::kEmbedding});
  std::vector<Tensor> probs, gates;
  for (int64_t layer = 0; layer < decoder.layers(); ++layer) {
    residuals.push_back(recorder.at({layer, points::kResidual}).front());
    for (const Tensor& each : recorder.at({layer, points::kProbs})) {
      probs.push_back(each);
      result.attention_layers.push_back(layer);
    }
    for (const Tensor& gate : recorder.at({layer, points::kGate})) {
      gates.push_back(gate);
      result.gate_layers.push_back(layer);
    }
  }
  result.hidden = stacked(context, residuals);
  if (!probs.empty()) result.attn = stacked(context, probs);
  if (!gates.empty()) result.gates = stacked(context, of_one_width(context, gates));
  return result;
}

namespace {

// Refused; with NonFinite::Allowed a warning.
void check_finite(const LoadedModel& model, const CapturedTrace& traced, Probe& intervener,
                  const JobControl& control) {
  const auto tensors = tensors_of(traced);
  if (std::ranges::all_of(tensors, [](const auto& each) { return is_finite(each.second); })) return;
  const Error error =
      not_finite("values of the trace are", model.context(&intervener), model.decoder(), traced.ids)
          .inside(model.path().string());
  if (model.nonfinite() == NonFinite::Refused) throw Error(error);
  control.warn("{}", error.what());
}

}  // namespace

CapturedTrace trace(const LoadedModel& model, const TraceRequest& request, const JobControl& control) {
  const std::vector<TapPattern> patterns = tap_patterns(request.captures, model.config().layers);
  warn_beyond_positions(model.config(), "the text has", std::ssize(request.ids), control);
  Recorder recorder(patterns);
  Intervener intervener(request.interventions);
  ProbeChain probes({&intervener, &recorder});
  CapturedTrace traced{.ids = request.ids,
                       .trace = trace(model.context(&probes), model.decoder(), request.ids, control),
                       .captures = {}};
  traced.captures = recorded_tensors(recorder, patterns);
  std::erase_if(traced.captures,
                [](const auto& each) { return each.first == points::kLogits.name; });  // a trace has them
  intervener.check_effect();
  check_finite(model, traced, intervener, control);
  return traced;
}

std::vector<std::pair<std::string, Tensor>> tensors_of(const CapturedTrace& traced) {
  const Trace& trace = traced.trace;
  std::vector<std::pair<std::string, Tensor>> tensors = {{"logits", trace.logits}, {"hidden", trace.hidden}};
  if (trace.attn.defined()) tensors.emplace_back("attn", trace.attn);
  if (trace.gates.defined()) tensors.emplace_back("gates", trace.gates);
  tensors.insert(tensors.end(), traced.captures.begin(), traced.captures.end());
  return tensors;
}

nlohmann::ordered_json to_json(const CapturedTrace& traced) {
  nlohmann::ordered_json shapes;
  for (const auto& [name, tensor] : tensors_of(traced)) {
    std::vector<int64_t> dims;
    for (int axis = 0; axis < tensor.shape().rank(); ++axis) dims.push_back(tensor.shape()[axis]);
    shapes[name] = dims;
  }
  return {{"ids", traced.ids}, {"tensors", shapes}};
}

std::string to_text(const CapturedTrace& traced) {
  std::string text;
  for (const auto& [name, tensor] : tensors_of(traced))
    text += fmt::format("{:<24}{}\n", name, tensor.shape().text());
  return text;
}

nlohmann::ordered_json to_json(const WrittenTrace& written) {
  nlohmann::ordered_json json = {{"out", written.out.string()}};
  json.update(to_json(written.traced));
  return json;
}

std::string to_text(const WrittenTrace& written) {
  return to_text(written.traced) + fmt::format("written to {}\n", written.out.string());
}

void write_trace(const std::filesystem::path& path, const CapturedTrace& traced) {
  std::vector<TensorOutput> outputs;
  for (const auto& [name, tensor] : tensors_of(traced)) outputs.push_back(tensor_output(name, tensor));
  SafetensorsMetadata metadata = {{"format", "pt"}, {"ids", fmt::format("{}", fmt::join(traced.ids, ","))}};
  // Only some layers may have a gate; this says which rows of `gates` belong to which.
  if (traced.trace.gates.defined())
    metadata["gate_layers"] = fmt::format("{}", fmt::join(traced.trace.gate_layers, ","));
  const auto layers = static_cast<size_t>(traced.trace.hidden.shape()[0] - 1);
  if (traced.trace.attention_layers.size() != layers)
    metadata["attention_layers"] = fmt::format("{}", fmt::join(traced.trace.attention_layers, ","));
  write_safetensors(path, outputs, metadata);
}

}  // namespace sluice
