// How a measured number is written, in the same way wherever it stands: in a table, in a sentence, in a
// caption.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/eval/estimate.h"

namespace sluice {

enum class NumberStyle { Significant, Fixed, Percent };
enum class NumberSign { IfNegative, Always };  // Always: for differences

// The digits are of a number that stands alone. One with an interval has as many as the interval leaves
// certain.
struct NumberFormat {
  NumberStyle style = NumberStyle::Significant;
  int digits = 4;  // significant ones, or those behind the point
  NumberSign sign = NumberSign::IfNegative;
};

// What is not a number is a dash: it was not measured.
std::string number_text(double value, const NumberFormat& format = {});

// With commas: "918,912".
std::string integer_text(int64_t value);

// "1 pair", "918,912 pairs"; what has no plural in s says which it has.
std::string counted_text(int64_t count, std::string_view singular, std::string_view plural = {});

// "2.496 [2.484, 2.508]": two significant digits of half the interval's width, and the value to the same
// place. Without an interval the value alone.
std::string number_text(const Estimate& estimate, const NumberFormat& format = {});

// The value alone, and its interval alone ("2.484 to 2.508"), with those digits; for sentences.
std::string value_text(const Estimate& estimate, const NumberFormat& format = {});
std::string interval_text(const Interval& interval, const NumberFormat& format = {});

}  // namespace sluice
