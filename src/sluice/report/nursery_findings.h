// What the nursery shows, computed from its figures: of the demo's own pair of models, and of the stored
// seeds.
#pragma once

#include <string>
#include <vector>

#include "sluice/analysis/attention_measure.h"
#include "sluice/report/nursery.h"
#include "sluice/report/nursery_seeds.h"
#include "sluice/report/report.h"

namespace sluice {

// As the experiments of the stored seeds have them: set before a gated model of theirs was trained; a few
// trials on another text were known.
struct NurseryLimits {
  // Share of the copies after triggers. A model below has not learnt what a head is for: that it lacks a sink
  // says nothing, and it is not compared.
  static constexpr double kSolved = 0.95;
  // Nats per token: losses that differ by less are equal. The chain's own is about 2.
  static constexpr double kEqualLoss = 0.01;
};

inline bool solves(double copy_accuracy) {
  return copy_accuracy >= NurseryLimits::kSolved;
}

// Whether the pair may be compared: both solve the task.
bool counts(const NurseryResult& result);

// Whether the whole interval is above the limit: one model's sink is known only as well as its sequences.
bool surely_has_sink(const Look& look);

// The exhibit's answer. Lower or Higher only of a pair that counts, whose baseline has a sink, at equal loss.
Finding nursery_answer(const NurseryResult& result);

// Sink, activation and loss of the pair over its sequences; none if it does not count.
std::vector<Finding> pair_findings(const NurseryResult& result);

// The same over seeds at their planned looks, for the pair's own variant; what is stored of others is in the
// table beside it.
std::vector<Finding> seed_findings(const NurseryPair& pair, const ExperimentResult& seeds);

// "baseline" of "nursery-baseline".
std::string short_name(const std::string& variant);

}  // namespace sluice
