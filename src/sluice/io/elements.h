// Elements as files store them ↔ as tensors hold them. To f32 every conversion is exact; to bf16 and f16 it
// rounds to nearest, ties to even; of equal types it is a copy of the bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sluice/io/stored_type.h"
#include "sluice/tensor/tensor.h"

namespace sluice {

// The stored type of a tensor's own elements: F32 or BF16.
StoredType stored_type_of(DType dtype);

// Elements of a tensor in row-major order: [first, first + count).
struct ElementRange {
  int64_t first = 0;
  int64_t count = 0;
};

// Fills elements `range` of `target`, F32 or BF16, from `source` of exactly as many elements of a readable
// type. `source` need not be aligned.
void decode_elements(std::span<const std::byte> source, StoredType type, const Tensor& target,
                     ElementRange range);

// The other way: elements `range` of `source`, F32 or BF16, into `target`.
void encode_elements(const Tensor& source, ElementRange range, StoredType type, std::span<std::byte> target);

}  // namespace sluice
