// How sure a mean is while its values are still coming: an interval that holds at every number of values at
// once, so that whoever looks after each one and stops when the interval is narrow enough is not deceived.
//
// For values x1 … xn with mean m and S = sum of (x - m)^2, and a mean M that is asked about, take the mixture
// of likelihood ratios "the mean lies d standard deviations off M" over d ~ N(0, g), with the standard
// deviation, which nobody knows, integrated out by its invariant prior 1 / sigma:
//
//   E_n(M) = (1 + n g)^(-1/2) * [ (S + n (m - M)^2) / (S + n (m - M)^2 / (1 + n g)) ]^(n/2)
//
// If the values are normal with mean M, E_n is a ratio of densities of what does not depend on the scale, so
// a martingale that begins at 1, and by Ville's inequality it ever exceeds 1/alpha with a probability of at
// most alpha. The interval holds every M with E_n(M) < 1/alpha. Solved for M, with c = (sqrt(1 + n g) /
// alpha)^(2/n):
//
//   |m - M| < sqrt(S / n * (c - 1) / (1 - c / (1 + n g)))    if c < 1 + n g, else nothing can be said yet.
//
// Means over chunks are not normal. Many small tails do no harm, but a long one on one side does, at errors
// as small as those of a hundred comparisons: as long as none of it came up, mean and variance are both too
// small, and what is missed lies on the side of the tail. So each end is moved out by b log(1/alpha) / (2 n),
// after the second term of Bernstein's inequality, with the largest deviation b of the values so far to that
// side in the place of the bound that nobody knows. (Bernstein's factor is 1/3. With 1/2, skewed values are
// missed about as rarely as with 1/3 of the whole range at both ends, and the interval is 6 % narrower for
// symmetric ones.) What is assumed, then: values are independent, and what is still to come does not lie far
// outside what was seen. One chunk in ten unlike all others, and the interval is deceived as long as none has
// come. tests/ablate/confidence_sequence_test.cpp measures coverage, docs/breaking.md has the figures.
//
// A narrower interval for draws without replacement from a text of known length (n replaced by
// 1 / (1/n - 1/N)) was tried and left out: it covers the mean of this text for normal values, but where tails
// are long, a rare chunk that has not come yet moves the mean of the text more than the interval allows.
#pragma once

#include <cstdint>
#include <optional>

#include "sluice/eval/bootstrap.h"

namespace sluice {

class ConfidenceSequence {
 public:
  // Finite.
  void add(double value);

  int64_t count() const { return count_; }
  double mean() const { return mean_; }

  // Ever misses the mean with a probability of at most `error`. None: too few values to say anything.
  std::optional<Interval> interval(double error) const;

  // Half the length of it.
  std::optional<double> half_width(double error) const;

  // The smallest error whose interval leaves 0 out: a p value that holds at every time of stopping. 1 if none
  // does.
  double p_of_zero() const;

  // No statement is made of fewer values, however small the error may be.
  static constexpr int64_t kFewest = 8;

 private:
  std::optional<Interval> interval_at(double log_error) const;

  int64_t count_ = 0;
  double mean_ = 0, squares_ = 0;  // squares: of deviations from the mean
  double low_ = 0, high_ = 0;
};

}  // namespace sluice
