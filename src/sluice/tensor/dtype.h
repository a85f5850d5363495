// Element types of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sluice/tensor/bf16.h"

namespace sluice {

// F64 exists for the scalar twins that gradient checks run on; no fast kernel has it.
enum class DType : uint8_t { F32, BF16, I8, I32, F64 };

size_t size_of(DType dtype);
std::string_view name_of(DType dtype);

template <class T>
inline constexpr bool is_element = false;
template <>
inline constexpr bool is_element<float> = true;
template <>
inline constexpr bool is_element<Bf16> = true;
template <>
inline constexpr bool is_element<int8_t> = true;
template <>
inline constexpr bool is_element<int32_t> = true;
template <>
inline constexpr bool is_element<double> = true;

// A C++ type that a tensor can hold.
template <class T>
concept Element = is_element<T>;

template <Element T>
inline constexpr DType dtype_of = DType::F32;
template <>
inline constexpr DType dtype_of<Bf16> = DType::BF16;
template <>
inline constexpr DType dtype_of<int8_t> = DType::I8;
template <>
inline constexpr DType dtype_of<int32_t> = DType::I32;
template <>
inline constexpr DType dtype_of<double> = DType::F64;

}  // namespace sluice
