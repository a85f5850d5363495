#include "sluice/tensor/dtype.h"

namespace sluice {

size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return sizeof(float);
    case DType::BF16:
      return sizeof(Bf16);
    case DType::I8:
      return sizeof(int8_t);
    case DType::I32:
      return sizeof(int32_t);
    case DType::F64:
      return sizeof(double);
  }
  return 0;
}

std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return "f32";
    case DType::BF16:
      return "bf16";
    case DType::I8:
      return "i8";
    case DType::I32:
      return "i32";
    case DType::F64:
      return "f64";
  }
  return "?";
}

}  // namespace sluice
