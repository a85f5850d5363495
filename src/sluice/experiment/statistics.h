// What several measurements of one thing say about it.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "sluice/eval/bootstrap.h"

namespace sluice {

struct MeanInterval {
  int64_t count = 0;
  double mean = 0;
  std::optional<double> half_width = {};  // of the interval; one value alone has none
};

// The ends are no numbers if it has no interval.
Interval around(const MeanInterval& mean);

// What a share can be, and what two of them can be apart; what is never negative.
inline constexpr Interval kShares{0, 1}, kShareDifferences{-1, 1};
inline constexpr Interval kSizes{0, std::numeric_limits<double>::infinity()};

// What is left of it where the value can be nothing else.
Interval within(Interval interval, const std::optional<Interval>& possible);

// {"mean", "interval": [low, high] or null, "count"}
nlohmann::ordered_json to_json(const MeanInterval& mean, const std::optional<Interval>& possible = {});

inline constexpr double kUsualError = 0.05;  // of a 95 % interval

// A look that was planned: how many pairs of seeds have ended then, the first that were planned, and how much
// of the 5 % error it may spend.
struct ExperimentLook {
  int64_t pairs = 0;
  double error = 0;
};

// Two runs with the same seed that have ended.
struct EndedPair {
  int64_t seed_index = 0;                 // among those that are planned, from 0
  std::optional<double> difference = {};  // none: one of the runs does not count
};

// What a comparison over pairs of seeds comes to at the last of its looks that was reached.
struct DifferenceAtLook {
  int64_t ended_pairs = 0;                  // of those which the next look needs
  std::optional<ExperimentLook> look = {};  // none: the first one is still to come
  // Of the look's pairs that count; before the first look, of all that count.
  std::vector<double> differences = {};
  // Their mean; none if there are none. The interval misses with the look's error.
  std::optional<MeanInterval> difference = {};

  double error() const { return look ? look->error : kUsualError; }
  // Before the first look there is a number, and no interval: it would be read as an answer.
  std::optional<MeanInterval> shown() const;
};

// A look is reached when the pairs of its seeds have all ended, whether they count or not: waiting for others
// in their place would let what was measured decide when to look.
DifferenceAtLook difference_at_look(std::span<const EndedPair> pairs, std::span<const ExperimentLook> looks);

// What is shown of it.
nlohmann::ordered_json to_json(const DifferenceAtLook& at_look, const std::optional<Interval>& possible = {});

// With Student's t distribution: the values count as independent draws of a normal one. At least one value.
// The interval misses the mean with probability `error`.
MeanInterval mean_interval(std::span<const double> values, double error = kUsualError);

// Of the probability of something that was seen `seen` times out of `of`, exactly (Clopper and Pearson): it
// misses with at most the error. At least one time.
Interval share_interval(int64_t seen, int64_t of, double error = kUsualError);

// What |t| of so many degrees of freedom exceeds with probability `error`, which is above 0 and below 1.
double student_limit(double error, int64_t degrees);

}  // namespace sluice
