// What training adds to the loss for a router: balance between experts, and small scores.
//
// Shapes: N tokens, E experts.
#pragma once

#include <span>

#include "sluice/ops/tape.h"

namespace sluice {

// Σ over i of shares[i] · P_i, where P_i is the mean over tokens of probabilities[:, i]. The shares are
// constants: how often an expert was chosen has no gradient. A scalar.
Var weighted_mean(const Context& context, const Var& probabilities, std::span<const double> shares);

// The mean over tokens of (log Σ e^scores)², the z-loss. scores [N, E]. A scalar.
Var mean_square_log_sum(const Context& context, const Var& scores);

}  // namespace sluice
