// What is kept of a weight beside its elements. Behind ops/weight.h; nobody else needs it.
#pragma once

#include <mutex>

#include "sluice/ops/int8_matrix.h"
#include "sluice/ops/packed_matrix.h"

namespace sluice {

struct WeightForms {
  // What products use instead of the elements, which may then be undefined.
  Int8Matrix int8 = {};

  struct Packed {
    Tensor source = {};  // other elements than these: packed anew
    PackedMatrix matrix = {};
  };
  // Several passes may share a model. Whoever changes elements in place calls drop_packed().
  std::mutex mutex = {};
  Packed transposed = {}, plain = {};

  Packed& packed(Transpose transpose) { return transpose == Transpose::Yes ? transposed : plain; }
};

}  // namespace sluice
