#include "sluice/analysis/input_types.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/analysis/distribution.h"
#include "sluice/base/error.h"
#include "sluice/data/synth.h"
#include "sluice/data/text_reader.h"
#include "sluice/eval/estimate.h"
#include "sluice/nn/tap_points.h"
#include "sluice/probe/probe_chain.h"

namespace sluice {
namespace {

constexpr int64_t kPassTokens = 512;

struct GeneratedType {
  TextKind kind;
  const char* label;
};
constexpr GeneratedType kGenerated[] = {{TextKind::Fact, "factual"},
                                        {TextKind::Technical, "technical"},
                                        {TextKind::Dialogue, "conversational"},
                                        {TextKind::Repetitive, "repetitive"},
                                        {TextKind::Code, "code-like"}};

// What each sequence's gates come to, over all layers.
class SampleProbe : public Probe {
 public:
  struct Sample {
    Moments gates;
    int64_t closed = 0;
  };

  void begin_pass(const PassTokens& tokens) override {
    sequences_ = tokens.sequences;
    samples_.assign(static_cast<size_t>(sequences_.count()), {});
  }

  bool wants(const TapName& name) const override { return name.point == points::kGate; }

  Tensor visit(const Context& /*context*/, const TapName& name, const Tensor& value) override {
    Moments& layer = by_layer_[name.layer];
    const auto row = static_cast<size_t>(value.count() / sequences_.tokens());
    for (size_t s = 0; s < samples_.size(); ++s) {
      const auto start = static_cast<size_t>(sequences_.starts()[s]);
      const auto length = static_cast<size_t>(sequences_.length(static_cast<int64_t>(s)));
      Moments here;
      for (const float gate : value.values<float>().subspan(start * row, length * row)) {
        here.add(gate);
        samples_[s].closed += gate < static_cast<float>(Distribution::kClosed) ? 1 : 0;
      }
      samples_[s].gates.add(here);
      layer.add(here);
    }
    return value;
  }

  const std::vector<Sample>& samples() const { return samples_; }  // of the last pass
  const std::map<int64_t, Moments>& by_layer() const { return by_layer_; }

 private:
  Sequences sequences_;
  std::vector<Sample> samples_;
  std::map<int64_t, Moments> by_layer_;
};

InputType measure_type(const LoadedModel& model, const LabelledSamples& labelled, Intervener& intervener,
                       const JobControl& control) {
  const auto& samples = labelled.samples;
  InputType type{.label = labelled.label, .means = {}, .closed = {}};
  SampleProbe probe;
  ProbeChain chain({&intervener, &probe});
  const Context context = model.context(&chain, Packing::Keep);
  const int64_t length = std::ssize(samples.front());
  const auto together = static_cast<size_t>(std::max<int64_t>(1, kPassTokens / length));
  for (size_t first = 0; first < samples.size(); first += together) {
    control.stop_if_cancelled();
    const size_t count = std::min(together, samples.size() - first);
    std::vector<TokenId> ids;
    for (size_t i = first; i < first + count; ++i)
      ids.insert(ids.end(), samples[i].begin(), samples[i].end());
    model.decoder().forward(context, ids, Sequences::equal(static_cast<int64_t>(count), length));
    for (const SampleProbe::Sample& sample : probe.samples()) {
      type.means.push_back(sample.gates.mean());
      type.closed.push_back(static_cast<double>(sample.closed) / static_cast<double>(sample.gates.count));
    }
    control.report(labelled.label, static_cast<int64_t>(first + count), std::ssize(samples));
  }
  type.by_layer = probe.by_layer();
  return type;
}

std::vector<InputTypePair> pairs_of(const std::vector<InputType>& types) {
  std::vector<InputTypePair> pairs;
  std::vector<double> p;
  for (size_t a = 0; a < types.size(); ++a) {
    for (size_t b = a + 1; b < types.size(); ++b) {
      pairs.push_back({.first = a,
                       .second = b,
                       .difference = Moments::of(types[a].means).mean() - Moments::of(types[b].means).mean(),
                       .effect = effect_size(types[a].means, types[b].means)});
      p.push_back(permutation_p(std::vector{types[a].means, types[b].means}));
    }
  }
  const std::vector<double> corrected = holm(p);
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i].p = corrected[i];
  return pairs;
}

}  // namespace

std::vector<LabelledTexts> generated_types(int64_t samples, uint64_t seed) {
  std::vector<LabelledTexts> types;
  if (samples == 0) return types;
  for (const GeneratedType& generated : kGenerated) {
    LabelledTexts& type = types.emplace_back(LabelledTexts{generated.label, {}});
    for (int64_t i = 0; i < samples; ++i) {
      type.texts.push_back(
          synth_document({.kind = generated.kind, .seed = seed, .index = static_cast<uint64_t>(i)}));
    }
  }
  return types;
}

LabelledTexts read_type(const std::string& label, const std::string& path) {
  LabelledTexts type{label, {}};
  for_each_prompt(path, [&](std::string_view text) { type.texts.emplace_back(text); });
  return type;
}

LabelledSamples samples_of(const LoadedModel& model, const LabelledTexts& type, int64_t length) {
  LabelledSamples labelled{type.label, {}};
  for (const std::string& text : type.texts) {
    std::vector<TokenId> ids = model.encode(text);
    if (std::ssize(ids) < length) continue;
    ids.resize(static_cast<size_t>(length));
    labelled.samples.push_back(std::move(ids));
  }
  if (labelled.samples.size() >= 2) return labelled;
  throw bad_input({.where = type.label,
                   .what = "too few texts",
                   .expected = fmt::format("at least 2 of {} tokens or more", length),
                   .got = fmt::format("{} of {}", labelled.samples.size(), type.texts.size())});
}

InputTypes compare_input_types(const LoadedModel& model, const InputTypesRequest& request,
                               const JobControl& control) {
  InputTypes result{.length = std::ssize(request.types.front().samples.front())};
  Intervener intervener(request.interventions);
  std::vector<Samples> groups;
  for (const LabelledSamples& type : request.types) {
    result.types.push_back(measure_type(model, type, intervener, control));
    groups.push_back(result.types.back().means);
  }
  result.p = permutation_p(groups);
  result.pairs = pairs_of(result.types);
  return result;
}

nlohmann::ordered_json to_json(const InputTypes& types) {
  nlohmann::ordered_json each = nlohmann::ordered_json::array(), pairs = nlohmann::ordered_json::array();
  for (const InputType& type : types.types) {
    nlohmann::ordered_json layers = nlohmann::ordered_json::array();
    for (const auto& [layer, moments] : type.by_layer)
      layers.push_back({{"layer", layer}, {"mean", moments.mean()}});
    each.push_back({{"type", type.label},
                    {"samples", type.means.size()},
                    {"mean", Moments::of(type.means).mean()},
                    {"ci95", to_json(mean_of_samples(type.means).ci95)},
                    {"below_0.1", Moments::of(type.closed).mean()},
                    {"layers", std::move(layers)}});
  }
  for (const InputTypePair& pair : types.pairs) {
    pairs.push_back({{"first", types.types[pair.first].label},
                     {"second", types.types[pair.second].label},
                     {"difference", pair.difference},
                     {"effect", pair.effect},
                     {"p", pair.p}});
  }
  return {{"length", types.length}, {"types", std::move(each)}, {"p", types.p}, {"pairs", std::move(pairs)}};
}

}  // namespace sluice
