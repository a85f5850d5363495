#include "sluice/tensor/shape.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "sluice/base/assert.h"

namespace sluice {

Shape::Shape(std::initializer_list<int64_t> dims)
    : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const int64_t> dims) : rank_(static_cast<int>(dims.size())) {
  SLUICE_ASSERT(dims.size() <= kMaxRank, "shape: {} dimensions, at most {} are supported", dims.size(),
                kMaxRank);
  std::copy(dims.begin(), dims.end(), dims_.begin());
  // Room for the element size, so that a count of bytes cannot overflow either.
  constexpr int64_t kMaxCount = std::numeric_limits<int64_t>::max() / 16;
  int64_t count = 1;
  for (const int64_t dim : dims) {
    SLUICE_ASSERT(dim >= 0, "shape: negative dimension {}", dim);
    SLUICE_ASSERT(dim == 0 || count <= kMaxCount / dim, "shape: [{}] has too many elements",
                  fmt::join(dims, ", "));
    count *= std::max<int64_t>(dim, 1);
  }
}

int64_t Shape::operator[](int axis) const {
  SLUICE_ASSERT(axis >= 0 && axis < rank_, "shape: axis {} of a tensor of rank {}", axis, rank_);
  return dims_[axis];
}

int64_t Shape::count() const {
  int64_t count = 1;
  for (int axis = 0; axis < rank_; ++axis) count *= dims_[axis];
  return count;
}

int64_t Shape::rows() const {
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < rank_; ++axis) rows *= dims_[axis];
  return rows;
}

std::string Shape::text() const {
  return fmt::format("[{}]", fmt::join(dims_.begin(), dims_.begin() + rank_, ", "));
}

}  // namespace sluice
