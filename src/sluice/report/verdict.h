// What a measured difference says, in a word and in a sentence. Both are computed from the figures, so a
// report cannot claim what it did not measure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sluice/experiment/statistics.h"
#include "sluice/report/number_text.h"

namespace sluice {

enum class Verdict { Higher, Lower, Equivalent, Undecided };

// "higher", "lower", "equivalent", "undecided".
const char* name_of(Verdict verdict);

struct Difference {
  std::string what;                       // "validation loss"
  std::string subject;                    // whose: "headwise"
  std::string against;                    // beside whose: "baseline"
  double value = 0;                       // the subject's minus the other's
  std::optional<Interval> interval = {};  // none: one measurement alone has none
  double error = kUsualError;             // how often such an interval misses
  int64_t n = 0;
  std::string counted = {};  // what n counts, in the plural: "seeds"
  // Differences up to this do not matter to whoever asked. Set before the measurement, which is said of it
  // unless there is something else to say; none: equivalence is not asked for, and no interval, however
  // narrow, gives it.
  std::optional<double> margin = {};
  std::string whose_margin = "set beforehand";
  std::optional<Interval> possible = {};  // what the value can be at all; none: anything
  std::string limits = {};   // what else does not follow, as a sentence: "One text and one size of model."
  NumberFormat format = {};  // of the value
};

// "95 %", of intervals that miss once in twenty times.
std::string confidence_text(double error);

// Equivalent if the whole interval lies within ± margin, ends included. Otherwise higher or lower if it lies
// on one side of zero, zero excluded. Undecided if it does not, and if there is no interval or a number is
// not finite.
Verdict verdict_of(const Difference& difference);

// One sentence with the verdict, n and the interval, then what this does not show.
std::string sentence_of(const Difference& difference);

}  // namespace sluice
