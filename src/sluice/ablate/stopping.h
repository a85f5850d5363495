// When enough text has been seen of a run, and what it then says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sluice/ablate/confidence_sequence.h"
#include "sluice/eval/bootstrap.h"

namespace sluice {

// What breaking did to the likelihood of the text.
enum class RunVerdict { Worse, Better, Equivalent, Undecided };

const char* name_of(RunVerdict verdict);

// All of it is set before anything is measured. Effects are changes of the negative log-likelihood per token,
// in nats.
struct StoppingRule {
  double relative = 0.1, absolute = 0.01;  // the half-width that is wanted: the larger of both, the first as
                                           // a share of the effect
  double margin = 0.01;                    // effects up to this do not matter
  // That any verdict of the whole ablation is ever wrong. It is spent once, in equal parts on all comparisons
  // that may be asked for (Bonferroni); nothing else has a verdict.
  double error = 0.05;
  int64_t comparisons = 1;  // counted beforehand: comparisons_of() in ablation_preparation.h

  double error_of_one() const { return error / static_cast<double>(comparisons); }
};

// The interval that holds for all comparisons at every time of stopping. None of too few values.
std::optional<Interval> simultaneous_interval(const ConfidenceSequence& effect, const StoppingRule& rule);
std::optional<Interval> simultaneous_interval(std::span<const double> values, const StoppingRule& rule);

// Equivalent if the whole interval lies within ± margin; otherwise worse or better if it lies on one side of
// 0.
RunVerdict verdict_of(const ConfidenceSequence& effect, const StoppingRule& rule);

// Why a verdict is undecided, in words; empty if it is not.
std::string open_because(const ConfidenceSequence& effect, const StoppingRule& rule);

// Narrow enough, and the verdict is no longer open.
bool may_rest(const ConfidenceSequence& effect, const StoppingRule& rule);

}  // namespace sluice
