// Every kernel that works on a range, as a case: its operands, and which part of its outputs a range owns.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "sluice/kernels/table.h"

namespace sluice::test {

// An array that a kernel writes. Element i belongs to index i / block % period of the range.
struct Output {
  std::vector<float> values;  // before the call: old contents, added to by kernels that add
  int64_t block = 1;
  int64_t period = INT64_MAX;
};

struct RangeCase {
  std::string name;
  int64_t size = 0;  // the whole range is [0, size)
  std::vector<Output> outputs;
  std::function<void(const Kernels<float>&, Range, std::vector<Output>&)> run;
};

inline void PrintTo(const RangeCase& range_case, std::ostream* out) {
  *out << range_case.name;
}

std::vector<RangeCase> range_cases();

}  // namespace sluice::test
