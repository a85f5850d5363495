#include "sluice/io/elements.h"

#include <cstring>
#include <type_traits>

#include "sluice/base/assert.h"
#include "sluice/io/f16.h"

namespace sluice {
namespace {

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else {
    float wide = 0;
    if constexpr (std::is_same_v<From, float>) {
      wide = value;
    } else {
      wide = to_float(value);
    }
    if constexpr (std::is_same_v<To, float>) return wide;
    if constexpr (std::is_same_v<To, Bf16>) return to_bf16(wide);
    if constexpr (std::is_same_v<To, F16>) return to_f16(wide);
  }
}

// Through memcpy, as either side may be unaligned; compilers make plain loads and stores of it.
template <class From, class To>
void convert(const std::byte* source, std::byte* target, size_t count) {
  if (count == 0) return;  // memcpy refuses null pointers also for nothing
  if constexpr (std::is_same_v<From, To>) {
    std::memcpy(target, source, count * sizeof(To));
  } else {
    for (size_t i = 0; i < count; ++i) {
      From value;
      std::memcpy(&value, source + i * sizeof(From), sizeof(From));
      const To result = converted<To>(value);
      std::memcpy(target + i * sizeof(To), &result, sizeof(To));
    }
  }
}

using Convert = void (*)(const std::byte*, std::byte*, size_t);

template <class Element>
Convert decoder(StoredType from) {
  if (from == StoredType::F32) return convert<float, Element>;
  if (from == StoredType::BF16) return convert<Bf16, Element>;
  return convert<F16, Element>;
}

template <class Element>
Convert encoder(StoredType to) {
  if (to == StoredType::F32) return convert<Element, float>;
  if (to == StoredType::BF16) return convert<Element, Bf16>;
  return convert<Element, F16>;
}

template <class Element>
std::byte* address(const Tensor& tensor, ElementRange range) {
  return reinterpret_cast<std::byte*>(tensor.data<Element>() + range.first);
}

void check(const Tensor& tensor, ElementRange range, StoredType type, size_t bytes) {
  SLUICE_ASSERT(tensor.dtype() == DType::F32 || tensor.dtype() == DType::BF16,
                "elements: the tensor is {}, not f32 or bf16", name_of(tensor.dtype()));
  SLUICE_ASSERT(is_readable(type), "elements: no conversion of {}", name_of(type));
  SLUICE_ASSERT(range.first >= 0 && range.count >= 0 && range.first <= tensor.count() - range.count,
                "elements: {} from {} are not in a tensor of {}", range.count, range.first, tensor.count());
  SLUICE_ASSERT(bytes == static_cast<size_t>(range.count) * size_of(type), "elements: {} bytes for {} {}",
                bytes, range.count, name_of(type));
}

}  // namespace

StoredType stored_type_of(DType dtype) {
  SLUICE_ASSERT(dtype == DType::F32 || dtype == DType::BF16, "elements: a tensor of {} is not stored",
                name_of(dtype));
  return dtype == DType::F32 ? StoredType::F32 : StoredType::BF16;
}

void decode_elements(std::span<const std::byte> source, StoredType type, const Tensor& target,
                     ElementRange range) {
  check(target, range, type, source.size());
  const auto count = static_cast<size_t>(range.count);
  if (target.dtype() == DType::F32) {
    decoder<float>(type)(source.data(), address<float>(target, range), count);
  } else {
    decoder<Bf16>(type)(source.data(), address<Bf16>(target, range), count);
  }
}

void encode_elements(const Tensor& source, ElementRange range, StoredType type, std::span<std::byte> target) {
  check(source, range, type, target.size());
  const auto count = static_cast<size_t>(range.count);
  if (source.dtype() == DType::F32) {
    encoder<float>(type)(address<float>(source, range), target.data(), count);
  } else {
    encoder<Bf16>(type)(address<Bf16>(source, range), target.data(), count);
  }
}

}  // namespace sluice
