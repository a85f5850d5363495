#include "sluice/probe/capture.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/probe/probe_chain.h"

namespace sluice {
namespace {

void check_captures(const Recorder& recorder, const std::vector<TapPattern>& patterns) {
  for (const TapPattern& pattern : patterns) {
    const bool found = std::ranges::any_of(recorder.values(), [&](const auto& each) {
      return pattern.matches({each.first.first, each.first.second});
    });
    if (!found) {
      throw usage_error({.where = "capture", .what = fmt::format("the model has no \"{}\"", pattern.text())});
    }
  }
}

}  // namespace

void check_ids(const LoadedModel& model, std::span<const TokenId> ids) {
  if (ids.empty()) throw usage_error({.what = "there are no tokens"});
  const int64_t vocabulary = model.config().vocabulary;
  const auto outside = std::ranges::find_if(ids, [&](TokenId id) { return id < 0 || id >= vocabulary; });
  if (outside == ids.end()) return;
  throw usage_error({.where = fmt::format("token {}", outside - ids.begin()),
                     .what = "bad token id",
                     .expected = fmt::format("integer from 0 to {}", vocabulary - 1),
                     .got = std::to_string(*outside)});
}

Var hidden_states(const Context& context, const Decoder& decoder, std::span<const TokenId> ids,
                  const JobControl& control) {
  const Pass pass = decoder.begin(context, Sequences::equal(1, std::ssize(ids)));
  Var x = decoder.embed(context, ids);
  for (int64_t layer = 0; layer < decoder.layers(); ++layer) {
    control.stop_if_cancelled();
    x = decoder.run(context, x, pass, {layer, layer + 1}).y;
    control.report("layers", layer + 1, decoder.layers());
  }
  decoder.end(pass);
  return decoder.finish(context, x);
}

std::vector<TapPattern> tap_patterns(const std::vector<std::string>& texts, int64_t layers) {
  std::vector<TapPattern> patterns;
  for (const std::string& text : texts) {
    const TapPattern& pattern = patterns.emplace_back(text);
    if (pattern.layers().largest() < layers) continue;
    throw usage_error({.where = fmt::format("capture \"{}\"", text),
                       .what = "no such layer",
                       .expected = fmt::format("0 to {}", layers - 1),
                       .got = std::to_string(pattern.layers().largest())});
  }
  return patterns;
}

// In a single pass every tap is met once.
NamedTensors recorded_tensors(const Recorder& recorder, const std::vector<TapPattern>& patterns) {
  check_captures(recorder, patterns);
  NamedTensors tensors;
  for (const auto& [place, values] : recorder.values())
    tensors.emplace_back(TapName{place.first, place.second}.text(), values.front());
  return tensors;
}

NamedTensors capture(const LoadedModel& model, const CaptureRequest& request, const JobControl& control) {
  check_ids(model, request.ids);
  const std::vector<TapPattern> patterns = tap_patterns(request.taps, model.config().layers);
  Recorder recorder(patterns);
  Intervener intervener(request.interventions);
  ProbeChain probes({&intervener, &recorder});
  const Context context = model.context(&probes);
  const Var hidden = hidden_states(context, model.decoder(), request.ids, control);
  if (is_probed(context, {TapName::kNoLayer, points::kLogits})) model.decoder().logits(context, hidden);
  NamedTensors tensors = recorded_tensors(recorder, patterns);
  intervener.check_effect();
  return tensors;
}

}  // namespace sluice
