#include "sluice/io/nonfinite.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "sluice/base/assert.h"
#include "sluice/io/f16.h"
#include "sluice/tensor/bf16.h"

namespace sluice {
namespace {

// A number is finite unless all bits of its exponent are set. The number of elements is a constant and there
// is no early end: so compilers make vectors of it.
template <class Bits, size_t kCount>
bool any_nonfinite(const std::byte* elements, Bits exponent) {
  Bits found = 0;
  for (size_t i = 0; i < kCount; ++i) {
    Bits bits;
    std::memcpy(&bits, elements + i * sizeof bits, sizeof bits);
    found |= static_cast<Bits>((bits & exponent) == exponent);
  }
  return found != 0;
}

template <class Bits>
bool any_nonfinite(std::span<const std::byte> elements, Bits exponent) {
  constexpr size_t kStep = 1024;  // elements
  bool found = false;
  while (!found && elements.size() >= kStep * sizeof(Bits)) {
    found = any_nonfinite<Bits, kStep>(elements.data(), exponent);
    elements = elements.subspan(kStep * sizeof(Bits));
  }
  for (; !found && !elements.empty(); elements = elements.subspan(sizeof(Bits)))
    found = any_nonfinite<Bits, 1>(elements.data(), exponent);
  return found;
}

float value_at(const std::byte* element, StoredType type) {
  uint32_t wide = 0;
  uint16_t narrow = 0;
  if (type == StoredType::F32) {
    std::memcpy(&wide, element, sizeof wide);
    return std::bit_cast<float>(wide);
  }
  std::memcpy(&narrow, element, sizeof narrow);
  return type == StoredType::BF16 ? to_float(std::bit_cast<Bf16>(narrow))
                                  : to_float(std::bit_cast<F16>(narrow));
}

bool has_nonfinite(std::span<const std::byte> block, StoredType type) {
  if (type == StoredType::F32) return any_nonfinite<uint32_t>(block, 0x7F80'0000);
  return any_nonfinite<uint16_t>(block, type == StoredType::BF16 ? 0x7F80 : 0x7C00);
}

// Stays in the L1 cache for the second look.
constexpr size_t kBlock = size_t{1} << 14;  // bytes

}  // namespace

std::optional<NonFiniteElement> first_nonfinite(std::span<const std::byte> bytes, StoredType type,
                                                const Threads& threads) {
  SLUICE_ASSERT(is_readable(type), "first_nonfinite: elements of {}", name_of(type));
  const auto blocks = static_cast<int64_t>((bytes.size() + kBlock - 1) / kBlock);
  std::atomic<int64_t> first = blocks;  // block with such a value
  const auto block_at = [&](int64_t i) {
    const auto rest = bytes.subspan(static_cast<size_t>(i) * kBlock);
    return rest.first(std::min(kBlock, rest.size()));
  };
  constexpr int64_t kGrain = 16;  // blocks: below a quarter of a MiB a thread is not worth waking
  threads.split(blocks, kGrain, [&](Range range) {
    for (int64_t i = range.begin; i < std::min(range.end, first.load(std::memory_order_relaxed)); ++i) {
      if (!has_nonfinite(block_at(i), type)) continue;
      for (int64_t seen = first; i < seen && !first.compare_exchange_weak(seen, i);) {
      }
      return;
    }
  });
  if (first == blocks) return {};
  const std::byte* block = block_at(first).data();
  int64_t at = 0;
  const auto value = [&] { return value_at(block + static_cast<size_t>(at) * size_of(type), type); };
  while (std::isfinite(value())) ++at;
  return NonFiniteElement{.index = first * static_cast<int64_t>(kBlock / size_of(type)) + at,
                          .value = value()};
}

}  // namespace sluice
