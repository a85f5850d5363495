#include "sluice/model/count.h"

#include "sluice/model/architecture.h"

namespace sluice {
namespace {

LayerCounts count_model(const ModelConfig& config) {
  const int64_t table = config.vocabulary * config.hidden;
  LayerCounts counts{
      .parameters = {.embedding = table, .head = config.tied ? 0 : table, .norms = config.hidden},
      .flops = {.products = 2 * table}};
  for (int64_t layer = 0; layer < config.layers; ++layer) counts += count_layer(config, layer);
  return counts;
}

}  // namespace

ParameterCount count_parameters(const ModelConfig& config) {
  return count_model(config).parameters;
}

FlopCount count_flops(const ModelConfig& config) {
  return count_model(config).flops;
}

double training_flops_per_token(const ModelConfig& config, int64_t length) {
  const FlopCount flops = count_flops(config);
  const double context = static_cast<double>(length + 1) / 2;
  return 3 * (static_cast<double>(flops.products) + static_cast<double>(flops.per_context_token) * context);
}

}  // namespace sluice
