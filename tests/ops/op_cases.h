// Every op, described once: what it is applied to, and how. The tests in op_test.cpp hold for each row.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "sluice/ops/tape.h"

namespace sluice::test {

struct OpCase {
  std::string name;
  std::vector<Shape> operands;  // all of them are differentiated
  std::function<Var(const Context&, const std::vector<Var>&)> apply;
  // Length of the longest sum behind one result or gradient element: rounding errors grow with it.
  int64_t sum_length = 1;
};

std::vector<OpCase> op_cases();

// Part of them, in expert_cases.cpp.
void add_expert_cases(std::vector<OpCase>& cases);

inline void PrintTo(const OpCase& op_case, std::ostream* out) {
  *out << op_case.name;
}

}  // namespace sluice::test
