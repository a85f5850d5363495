// Trading time for memory: a block whose intermediates are not kept but computed again during backward.
#pragma once

#include <functional>
#include <vector>

#include "sluice/ops/tape.h"

namespace sluice {

// A pure function of its inputs and of parameters that it takes with use(): called twice, it must do the same
// twice.
using Block = std::function<Var(const Context&, const std::vector<Var>& inputs)>;

enum class Activations { Keep, Recompute };

// block(inputs), its intermediates kept or not. Both ways give bitwise the same values and gradients.
Var run_block(const Context& context, Activations activations, const std::vector<Var>& inputs,
              const Block& block);

}  // namespace sluice
