// Tests that hold on every instruction set of the machine.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sluice/ops/engine.h"
#include "tests/kernels/instruction_sets.h"

namespace sluice::test {

// Calls body(engine) with an engine of each.
template <class Body>
void with_every_set(const Body& body) {
  for (const Isa isa : sets_of_this_machine()) {
    SCOPED_TRACE(name_of(isa));
    Engine engine({.isa = {.name = std::string(name_of(isa)), .source = "test"}});
    body(engine);
  }
}

}  // namespace sluice::test
