#include "sluice/analysis/experts_measure.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace sluice {
namespace {

double entropy_term(double p) {
  return p > 0 ? -p * std::log(p) : 0.0;
}

// As a part of what E equal ones have; a single expert leaves no choice, which counts as balanced.
double part_of_largest(double entropy, int64_t experts) {
  return experts < 2 ? 1.0 : entropy / std::log(static_cast<double>(experts));
}

}  // namespace

double ExpertsLayer::share(size_t expert) const {
  const auto all = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  return all == 0 ? 0.0 : static_cast<double>(counts[expert]) / static_cast<double>(all);
}

double ExpertsLayer::load_entropy() const {
  double entropy = 0;
  for (size_t e = 0; e < counts.size(); ++e) entropy += entropy_term(share(e));
  return part_of_largest(entropy, experts());
}

double ExpertsLayer::largest_load() const {
  double largest = 0;
  for (size_t e = 0; e < counts.size(); ++e) largest = std::max(largest, share(e));
  return largest * static_cast<double>(experts());
}

int64_t ExpertsLayer::dead() const {
  return std::ranges::count(counts, 0);
}

double ExpertsLayer::router_entropy() const {
  return tokens == 0 ? 0.0 : part_of_largest(router_entropy_sum / static_cast<double>(tokens), experts());
}

void add_choices(ExpertsLayer& layer, const Tensor& weights) {
  layer.counts.resize(static_cast<size_t>(weights.cols()));
  const auto values = weights.values<float>();
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0) ++layer.counts[i % layer.counts.size()];
}

void add_router(ExpertsLayer& layer, const Tensor& probabilities) {
  layer.tokens += probabilities.rows();
  for (const float p : probabilities.values<float>()) layer.router_entropy_sum += entropy_term(p);
}

nlohmann::ordered_json to_json(const std::vector<ExpertsLayer>& layers) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const ExpertsLayer& layer : layers)
    json.push_back({{"layer", layer.layer},
                    {"tokens", layer.tokens},
                    {"counts", layer.counts},
                    {"load_entropy", layer.load_entropy()},
                    {"largest_load", layer.largest_load()},
                    {"dead", layer.dead()},
                    {"router_entropy", layer.router_entropy()}});
  return json;
}

ExpertsPulse pulse_of(const std::vector<ExpertsLayer>& layers) {
  ExpertsPulse pulse;
  const double part = layers.empty() ? 0.0 : 1.0 / static_cast<double>(layers.size());
  for (const ExpertsLayer& layer : layers) {
    pulse.load_entropy += part * layer.load_entropy();
    pulse.largest_load += part * layer.largest_load();
    pulse.router_entropy += part * layer.router_entropy();
    pulse.dead += layer.dead();
  }
  return pulse;
}

}  // namespace sluice
