// The instruction sets that tests can run on this machine.
#pragma once

#include <vector>

#include "sluice/kernels/dispatch.h"

namespace sluice::test {

inline std::vector<Isa> sets_of_this_machine() {
  return available_isas(detect_cpu());
}

// All but the scalar twins.
inline std::vector<Isa> simd_sets_of_this_machine() {
  std::vector<Isa> sets = sets_of_this_machine();
  std::erase(sets, Isa::Scalar);
  return sets;
}

}  // namespace sluice::test
