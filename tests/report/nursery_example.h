// A nursery whose figures are made up: two layers of two heads, four sequences.
#pragma once

#include "sluice/report/nursery.h"

namespace sluice {

struct ExampleNurseryModel {
  double sink = 0;  // of every head in every sequence
  double nll = 2.2;
  double copy_accuracy = 0.99;
};

inline StudiedModel example_studied(const std::string& name, const ExampleNurseryModel& figures) {
  constexpr int64_t kLength = 8, kSequences = 4;
  StudiedModel model{.name = name, .parameters = 1234};
  Look& look = model.look;
  look.sequences = kSequences;
  look.length = kLength;
  look.key_floor = 0.05;
  for (int64_t i = 0; i < kSequences; ++i)
    look.chunks.push_back({.sum = figures.nll * static_cast<double>(kLength), .tokens = kLength});
  look.activations.push_back({points::kResidual});
  for (int64_t l = 0; l < 2; ++l) {
    AttentionLayer& layer = look.attention.emplace_back();
    layer.layer = l;
    KeyAttention unit;
    unit.sum = figures.sink * static_cast<double>(kLength);
    unit.late = figures.sink * static_cast<double>(kLength - kFirstQueries);
    unit.queries = kLength;
    unit.late_queries = kLength - kFirstQueries;
    layer.by_sequence.assign(kSequences, unit);
    layer.by_head.assign(2, {.key = unit});
    look.activations.front().layers.push_back(
        {.layer = l, .largest = {.size = 7}, .by_sequence = std::vector<double>(kSequences, 6.5)});
    for (int64_t h = 0; h < 2; ++h)
      model.prompt.maps.push_back({.layer = l, .head = h, .values = std::vector<float>(9, 0.25F)});
  }
  add_estimates(look);
  model.prompt.ids = {94, 97, 98};
  return model;
}

inline NurseryResult example_nursery(const ExampleNurseryModel& baseline, const ExampleNurseryModel& gated) {
  NurseryResult result{
      .pair = kNursery,
      .seeds = stored_seeds(kNursery),
      .out = "demo",
      .text = {.chain_seed = 1, .tokens = "demo/nursery.tokens", .info = {.tokens = 1280, .documents = 10}}};
  Study study;
  for (const auto& [name, figures] :
       {std::pair("nursery-baseline", baseline), std::pair("nursery-headwise", gated)}) {
    NurseryModel& model = result.models.emplace_back();
    model.variant = name;
    model.seed = 1;
    model.outcome.state = {.step = 1500, .tokens = 3072000, .seconds = 60};
    model.outcome.validation = Validation{.step = 1500, .loss = figures.nll, .sequences = 64, .length = 128};
    model.metrics.add(*model.outcome.validation);
    model.score = {.documents = 200,
                   .copies = 2000,
                   .copy_accuracy = figures.copy_accuracy,
                   .others = 23000,
                   .other_nll = 2.21,
                   .chain_nll = 2.2};
    study.models.push_back(example_studied(name, figures));
  }
  result.looked = compare_models(std::move(study));
  result.seconds = 130;
  return result;
}

inline NurseryResult example_nursery() {
  return example_nursery({.sink = 0.25}, {.sink = 0.1});
}

}  // namespace sluice
