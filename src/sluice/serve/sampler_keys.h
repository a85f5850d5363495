// The keys of a request that say how the next token is chosen.
#pragma once

#include "sluice/base/json.h"
#include "sluice/infer/sampler.h"

namespace sluice::serve {

// What is not there is as in `usual`.
SamplerOptions read_sampler(const Json& json, const SamplerOptions& usual);

}  // namespace sluice::serve
