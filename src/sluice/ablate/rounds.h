// Runs over chunks in rounds: each round takes one chunk, in a random order that is the same for all, and
// every run that still needs text. So the chunks that two runs have in common are the first ones of both.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sluice/ablate/run_measures.h"
#include "sluice/ablate/stopping.h"
#include "sluice/base/job_control.h"

namespace sluice {

enum class Coverage { UntilDecided, Exhaustive };  // Exhaustive: every run sees every chunk

struct RoundsRequest {
  std::vector<size_t> runs = {};  // of a plan, by index
  int64_t chunks = 0;
  uint64_t seed = 0;  // of their order
  StoppingRule rule = {};
  Coverage coverage = Coverage::UntilDecided;
};

struct MeasuredChunk {
  RunMeasures base = {};               // of the unbroken model
  std::vector<RunMeasures> runs = {};  // in the order in which they were asked for
};

using MeasureChunk = std::function<MeasuredChunk(int64_t chunk, std::span<const size_t> runs)>;

struct MeasuredRun {
  size_t run = 0;                        // of the plan
  std::vector<RunMeasures> chunks = {};  // of the first rounds
};

struct Rounds {
  std::vector<int64_t> order = {};     // the chunk of each round
  std::vector<RunMeasures> base = {};  // by round
  std::vector<MeasuredRun> runs = {};  // as asked for
};

// A run whose likelihood is not finite rests at once. Throws if it is cancelled.
Rounds run_rounds(const RoundsRequest& request, const MeasureChunk& measure, const JobControl& control = {});

// What a run changes in a chunk, in nats per token.
double effect_on(const RunMeasures& broken, const RunMeasures& base);
bool is_finite(const RunMeasures& measures);

}  // namespace sluice
