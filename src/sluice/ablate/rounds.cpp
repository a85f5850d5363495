#include "sluice/ablate/rounds.h"

#include <cmath>

#include "sluice/base/assert.h"
#include "sluice/base/permutation.h"

namespace sluice {
namespace {

struct RunInRounds {
  ConfidenceSequence effect;
  bool rests = false;
};

class RoundsRunner {
 public:
  RoundsRunner(const RoundsRequest& request, const MeasureChunk& measure)
      : request_(request), measure_(measure), states_(request.runs.size()) {
    for (const size_t run : request.runs) rounds_.runs.push_back({.run = run});
  }

  Rounds run(const JobControl& control) {
    const Permutation order(static_cast<uint64_t>(request_.chunks), Random(request_.seed));
    const int64_t total = std::ssize(states_) * request_.chunks;
    for (int64_t round = 0; round < request_.chunks && !all_rest(); ++round) {
      control.stop_if_cancelled();
      control.report("runs of chunks", settled(round), total);
      take(static_cast<int64_t>(order(static_cast<uint64_t>(round))));
    }
    control.report("runs of chunks", total, total);
    return std::move(rounds_);
  }

 private:
  bool all_rest() const {
    for (const RunInRounds& state : states_)
      if (!state.rests) return false;
    return true;
  }

  // What a run at rest does not have to see counts as done.
  int64_t settled(int64_t rounds) const {
    int64_t count = 0;
    for (const RunInRounds& state : states_) count += state.rests ? request_.chunks : rounds;
    return count;
  }

  void take(int64_t chunk) {
    std::vector<size_t> active, runs;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (states_[i].rests) continue;
      active.push_back(i);
      runs.push_back(request_.runs[i]);
    }
    const MeasuredChunk measured = measure_(chunk, runs);
    SLUICE_ASSERT(measured.runs.size() == runs.size(), "rounds: {} measures of {} runs", measured.runs.size(),
                  runs.size());
    rounds_.order.push_back(chunk);
    rounds_.base.push_back(measured.base);
    for (size_t i = 0; i < active.size(); ++i) add(active[i], measured.runs[i], measured.base);
  }

  void add(size_t index, const RunMeasures& broken, const RunMeasures& base) {
    RunInRounds& state = states_[index];
    rounds_.runs[index].chunks.push_back(broken);
    if (!is_finite(broken)) {
      state.rests = true;
      return;
    }
    state.effect.add(effect_on(broken, base));
    if (request_.coverage == Coverage::UntilDecided) state.rests = may_rest(state.effect, request_.rule);
  }

  const RoundsRequest& request_;
  const MeasureChunk& measure_;
  std::vector<RunInRounds> states_;
  Rounds rounds_;
};

}  // namespace

Rounds run_rounds(const RoundsRequest& request, const MeasureChunk& measure, const JobControl& control) {
  return RoundsRunner(request, measure).run(control);
}

double effect_on(const RunMeasures& broken, const RunMeasures& base) {
  return (broken.nll.sum - base.nll.sum) / static_cast<double>(base.nll.tokens);
}

bool is_finite(const RunMeasures& measures) {
  return std::isfinite(measures.nll.sum);
}

}  // namespace sluice
