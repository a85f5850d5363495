// Where a checkpoint keeps the values of a parameter. Parameters are separate matrices; files may pack a gate
// into q_proj.
#pragma once

#include <string>
#include <vector>

#include "sluice/io/tensor_store.h"
#include "sluice/model/decoder.h"

namespace sluice {

// A stored tensor, or rows of one.
struct StoredPart {
  std::string tensor;
  Shape shape;                      // of the whole tensor
  std::vector<RowRange> rows = {};  // none: all of it
};

// Of all parameters of a decoder, in their order.
std::vector<StoredPart> stored_parts(const Decoder& decoder);

}  // namespace sluice
