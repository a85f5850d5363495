// Element types of safetensors files. More than tensors have (tensor/dtype.h): a file may hold what nobody
// here reads, and it must still be measured and listed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

enum class StoredType : uint8_t {
  Bool,
  U8,
  I8,
  F8_E4M3,
  F8_E5M2,
  F8_E8M0,
  U16,
  I16,
  F16,
  BF16,
  U32,
  I32,
  F32,
  U64,
  I64,
  F64,
  C64,
};

size_t size_of(StoredType type);
std::string_view name_of(StoredType type);  // as files spell it: "BF16"

// Types narrower than a byte (F4 and the like) are not known: their tensors' sizes are not whole elements.
std::optional<StoredType> stored_type_named(std::string_view name);

// Whether weights of this type can be read: F32, BF16, F16.
bool is_readable(StoredType type);

}  // namespace sluice
