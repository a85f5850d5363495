#include "sluice/analysis/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sluice/base/assert.h"
#include "sluice/base/random.h"

namespace sluice {
namespace {

using Values = std::vector<double>;

Values nlls(const Look& look) {
  Values values;
  for (const ChunkNll& chunk : look.chunks) values.push_back(chunk.sum / static_cast<double>(chunk.tokens));
  return values;
}

// The mean over layers of a figure that each layer has of each sequence.
template <class Layer, class FigureOf>
Values mean_over_layers(const std::vector<Layer>& layers, size_t sequences, FigureOf figure) {
  Values values(sequences, layers.empty() ? std::numeric_limits<double>::quiet_NaN() : 0.0);
  for (const Layer& layer : layers)
    for (size_t i = 0; i < sequences; ++i)
      values[i] += figure(layer.by_sequence[i]) / static_cast<double>(layers.size());
  return values;
}

Values sinks(const Look& look) {
  return mean_over_layers(look.attention, look.chunks.size(),
                          [](const KeyAttention& unit) { return unit.mean(); });
}

Values late_sinks(const Look& look) {
  return mean_over_layers(look.attention, look.chunks.size(),
                          [](const KeyAttention& unit) { return unit.late_mean(); });
}

Values largest(const Look& look) {
  return mean_over_layers(look.activations.front().layers, look.chunks.size(),
                          [](double size) { return size; });
}

Values gates(const Look& look) {
  static const std::vector<GateLayer> kNone;
  const GateMeasure* gate = look.output_gate();
  return mean_over_layers(gate == nullptr ? kNone : gate->layers, look.chunks.size(),
                          [](const GateUnit& unit) {
                            Moments all = unit.first;
                            all.add(unit.others);
                            return all.mean();
                          });
}

// If the two models were alike, each difference could as well have the other sign.
double sign_flip_p(const Values& differences) {
  constexpr uint64_t kDraws = 2000;
  double real = 0;
  for (const double difference : differences) real += difference;
  const double rounding = 1e-12 * std::abs(real);
  uint64_t as_far = 1;
  for (uint64_t i = 0; i < kDraws; ++i) {
    const Random signs = Random(0).child(i);
    double sum = 0;
    for (size_t j = 0; j < differences.size(); ++j)
      sum += signs.below(j, 2) == 0 ? differences[j] : -differences[j];
    if (std::abs(sum) >= std::abs(real) - rounding) ++as_far;
  }
  return static_cast<double>(as_far) / static_cast<double>(kDraws + 1);
}

}  // namespace

const std::vector<SequenceFigure>& compared_figures() {
  static const std::vector<SequenceFigure> kFigures = {
      {"nll", "the negative log-likelihood per token", nlls, 0.01},
      {"sink", "the attention on the key", sinks, 0.01},
      {"sink_without_first_4", "the attention on the key without the first four queries", late_sinks, 0.01},
      {"largest_activation_of_a_sequence", "the largest activation of a sequence", largest},
      {"gate_mean", "the mean gate", gates, 0.01}};
  return kFigures;
}

ModelComparison compare_models(Study study) {
  for (const StudiedModel& model : study.models)
    SLUICE_ASSERT(model.look.text_checksum == study.models.front().look.text_checksum,
                  "compare_models: {} saw another text", model.name);
  ModelComparison comparison{.study = std::move(study), .differences = {}};
  const std::vector<StudiedModel>& models = comparison.study.models;
  std::vector<double> p;
  for (size_t i = 1; i < models.size(); ++i) {
    for (const SequenceFigure& figure : compared_figures()) {
      Values differences = figure.values(models[i].look);
      const Values base = figure.values(models.front().look);
      for (size_t s = 0; s < base.size(); ++s) differences[s] -= base[s];
      if (std::isnan(differences.front())) continue;
      comparison.differences.push_back({.figure = figure.name,
                                        .words = figure.words,
                                        .model = i,
                                        .difference = mean_of_samples(differences),
                                        .margin = figure.margin});
      p.push_back(sign_flip_p(differences));
    }
  }
  const std::vector<double> corrected = holm(p);
  for (size_t i = 0; i < p.size(); ++i) comparison.differences[i].p = corrected[i];
  return comparison;
}

nlohmann::ordered_json to_json(const ModelComparison& comparison) {
  nlohmann::ordered_json json = to_json(comparison.study), differences = nlohmann::ordered_json::array();
  for (const PairedDifference& difference : comparison.differences) {
    differences.push_back({{"figure", difference.figure},
                           {"model", comparison.study.models[difference.model].name},
                           {"against", comparison.study.models.front().name},
                           {"difference", difference.difference.value},
                           {"ci95", to_json(difference.difference.ci95)},
                           {"p", difference.p}});
  }
  json["differences"] = std::move(differences);
  return json;
}

}  // namespace sluice
