#include "sluice/serve/sampler_keys.h"

namespace sluice::serve {

SamplerOptions read_sampler(const Json& json, const SamplerOptions& usual) {
  return {.temperature = json.number_or("temperature", usual.temperature, {0, 100}),
          .top_k = json.integer_or("top_k", usual.top_k, {0, 1 << 24}),
          .top_p = json.number_or("top_p", usual.top_p, {0, 1}),
          .min_p = json.number_or("min_p", usual.min_p, {0, 1}),
          .seed = json.contains("seed") ? static_cast<uint64_t>(json.integer("seed")) : usual.seed};
}

}  // namespace sluice::serve
