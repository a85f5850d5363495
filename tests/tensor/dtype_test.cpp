#include "sluice/tensor/dtype.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

template <Element T>
void expect_element(DType dtype, const char* name) {
  EXPECT_EQ(dtype_of<T>, dtype);
  EXPECT_EQ(size_of(dtype), sizeof(T));
  EXPECT_EQ(name_of(dtype), name);
}

TEST(DType, names_and_sizes_are_those_of_the_c_types) {
  expect_element<float>(DType::F32, "f32");
  expect_element<Bf16>(DType::BF16, "bf16");
  expect_element<int8_t>(DType::I8, "i8");
  expect_element<int32_t>(DType::I32, "i32");
  expect_element<double>(DType::F64, "f64");
}

TEST(DType, other_types_are_no_elements) {
  EXPECT_FALSE(Element<int64_t>);
  EXPECT_FALSE(Element<uint16_t>);
  EXPECT_FALSE(Element<const float>);
}

}  // namespace
}  // namespace sluice
