#include "sluice/report/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

void check_difference(const Difference& difference) {
  SLUICE_ASSERT(!difference.margin || *difference.margin >= 0, "verdict: {}: the margin is {}",
                difference.what, *difference.margin);
  SLUICE_ASSERT(!difference.interval || !(difference.interval->low > difference.interval->high),
                "verdict: {}: the interval ends at {}, before it begins at {}", difference.what,
                difference.interval->high, difference.interval->low);
}

bool has_sound_interval(const Difference& difference) {
  return std::isfinite(difference.value) && difference.interval && std::isfinite(difference.interval->low) &&
         std::isfinite(difference.interval->high);
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string count_text(const Difference& difference) {
  const std::string n = integer_text(difference.n);
  // No plural of one.
  return difference.n == 1 || difference.counted.empty() ? "n = " + n
                                                         : fmt::format("n = {} {}", n, difference.counted);
}

// "0.61 (95 % interval 0.55 to 0.68, n = 3 seeds)"
std::string evidence(const Difference& difference, const NumberFormat& format) {
  const Interval& interval = *difference.interval;
  return fmt::format("{} ({} interval {} to {}, {})", value_text({difference.value, interval}, format),
                     confidence_text(difference.error), value_text({interval.low, interval}, format),
                     value_text({interval.high, interval}, format), count_text(difference));
}

NumberFormat with_sign(NumberFormat format) {
  format.sign = NumberSign::Always;
  return format;
}

Difference turned_around(Difference difference) {
  difference.value = -difference.value;
  difference.interval = Interval{-difference.interval->high, -difference.interval->low};
  return difference;
}

// Of a difference that is above zero.
std::string decided_sentence(const Difference& difference, const char* word) {
  std::string text =
      fmt::format("{} of {} is {} than of {} by {}.", capitalised(difference.what), difference.subject, word,
                  difference.against, evidence(difference, difference.format));
  if (difference.margin && difference.interval->low < *difference.margin)
    text += fmt::format(" It may be less than {}, the margin {}, and so too little to matter.",
                        number_text(*difference.margin, difference.format), difference.whose_margin);
  return text;
}

std::string equivalent_sentence(const Difference& difference) {
  const bool excludes_zero = difference.interval->low > 0 || difference.interval->high < 0;
  return fmt::format(
      "{} of {} and of {} is equivalent: the difference is {}, within the margin of ±{} {}. {}",
      capitalised(difference.what), difference.subject, difference.against,
      evidence(difference, with_sign(difference.format)), number_text(*difference.margin, difference.format),
      difference.whose_margin,
      excludes_zero ? "There is a difference, but one too small to matter."
                    : "This does not show that they are the same.");
}

std::string undecided_sentence(const Difference& difference) {
  const std::string question =
      fmt::format("Whether {} of {} is higher or lower than of {} is undecided: ", difference.what,
                  difference.subject, difference.against);
  const NumberFormat format = with_sign(difference.format);
  if (!std::isfinite(difference.value))
    return question + fmt::format("the difference is not a finite number ({}).", count_text(difference));
  if (!has_sound_interval(difference))
    return question + fmt::format("the difference is {}, but {} gives no interval.",
                                  number_text(difference.value, format), count_text(difference));
  const Interval& interval = *difference.interval;
  return question +
         fmt::format(
             "the difference is {}. This does not show that they are the same: it may be as large as {}.",
             evidence(difference, format),
             value_text({std::fabs(interval.low) > std::fabs(interval.high) ? interval.low : interval.high,
                         interval},
                        format));
}

std::string verdict_sentence(const Difference& difference) {
  switch (verdict_of(difference)) {
    case Verdict::Higher:
      return decided_sentence(difference, "higher");
    case Verdict::Lower:
      return decided_sentence(turned_around(difference), "lower");
    case Verdict::Equivalent:
      return equivalent_sentence(difference);
    case Verdict::Undecided:
      break;
  }
  return undecided_sentence(difference);
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Higher:
      return "higher";
    case Verdict::Lower:
      return "lower";
    case Verdict::Equivalent:
      return "equivalent";
    case Verdict::Undecided:
      break;
  }
  return "undecided";
}

std::string confidence_text(double error) {
  return fmt::format("{:.6g} %", 100 * (1 - error));
}

Verdict verdict_of(const Difference& difference) {
  check_difference(difference);
  if (!has_sound_interval(difference)) return Verdict::Undecided;
  const auto [low, high] = *difference.interval;
  if (difference.margin && low >= -*difference.margin && high <= *difference.margin)
    return Verdict::Equivalent;
  if (low > 0) return Verdict::Higher;
  return high < 0 ? Verdict::Lower : Verdict::Undecided;
}

std::string sentence_of(const Difference& difference) {
  const std::string sentence = verdict_sentence(difference);
  return difference.limits.empty() ? sentence : sentence + " " + difference.limits;
}

}  // namespace sluice
