// A golden checkpoint of 128 tokens, read as bytes.
#pragma once

#include "sluice/infer/loaded_model.h"
#include "tests/probe/golden.h"

namespace sluice {

class WithByteModel : public testing::Test {
 protected:
  Engine engine_;
  LoadedModel model_{engine_, golden("tiny_gate_elementwise"), {.tokenizer = "bytes"}};
};

}  // namespace sluice
