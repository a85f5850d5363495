// Weights, from the ranks that have updated them to all others.
#pragma once

#include <vector>

#include "sluice/dist/ranks.h"
#include "sluice/dist/shard_layout.h"

namespace sluice {

// Own pieces to the others, and theirs from them; but not what is one rank's alone.
void spread_values(const Context& context, Ranks& ranks, const std::vector<NamedParameter>& parameters,
                   const ShardLayout& layout);

// What is one rank's alone, to all others.
void spread_owned_values(Ranks& ranks, const std::vector<NamedParameter>& parameters,
                         const ShardLayout& layout);

}  // namespace sluice
