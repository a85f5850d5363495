// Trading time for memory: a block whose intermediates are not kept but computed again during backward.
#pragma once

#include <functional>
#include <vector>

#include "sluice/ops/tape.h"

namespace sluice {

// A pure function of its inputs and of parameters that it takes with use(): called twice, it must do the same
// twice. A result may be a default Var: there is none.
using BlockFunction = std::function<std::vector<Var>(const Context&, const std::vector<Var>& inputs)>;

// block(inputs), its intermediates kept or not as the context says. Both ways give bitwise the same values
// and gradients.
std::vector<Var> run_block(const Context& context, const std::vector<Var>& inputs,
                           const BlockFunction& block);

}  // namespace sluice
