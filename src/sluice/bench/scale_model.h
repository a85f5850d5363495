// What a step on several ranks takes: arithmetic that is shared out, and messages that take their time.
// Fitted to this machine, and asked about others; what it says about them is a prediction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sluice/dist/gradient_exchange.h"

namespace sluice::bench {

// Seconds of a message = latency + bytes / bandwidth.
struct Link {
  double latency = 0;    // seconds
  double bandwidth = 0;  // bytes per second, of one rank
};

struct LinkSample {
  double bytes = 0, seconds = 0;
};

// By least squares of relative errors; neither is below 0. There must be two different sizes.
Link fit_link(std::span<const LinkSample> samples);

// Of one step on one rank.
struct Volume {
  double bytes = 0, messages = 0;  // sent
};

// A step as it was measured on one rank, and how the model is cut.
struct StepModel {
  int64_t parameters = 0;
  int64_t buckets = 0;
  double compute = 0;  // seconds of forward and backward
  double update = 0;   // likewise; each rank updates its part
  double hidden = 0;   // share of the gradients' messages that backward hides
};

// Gradients to the ranks that own them, weights back to all.
Volume volume_of(const StepModel& step, ReduceOrder order, int ranks);

// Seconds of a step of one batch on so many ranks, or, if weak, of one on each.
double predict_step(const StepModel& step, const Link& link, ReduceOrder order, int ranks, bool weak);

// Bytes of weights, gradients and both moments on a rank; activations come on top.
double state_bytes(const StepModel& step, int ranks);

// Numbers of nodes that predictions are made for, the fewest first: those of the plan (docs/scaling.md), and
// the ranks at hand if there are several, to be held against what was measured.
std::vector<int> predicted_nodes(int ranks);

}  // namespace sluice::bench
