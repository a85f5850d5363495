#include "sluice/tensor/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sluice {
namespace {

template <class T>
std::vector<T> elements(const Tensor& tensor) {
  return {tensor.values<T>().begin(), tensor.values<T>().end()};
}

Tensor one_two_three(MemoryPool& pool) {
  return Tensor::from<float>(pool, {3}, std::vector<float>{1, 2, 3});
}

TEST(Tensor, holds_nothing_at_first) {
  const Tensor tensor;
  EXPECT_FALSE(tensor.defined());
  EXPECT_FALSE(tensor.is_unshared());
  EXPECT_THROW(tensor.data<float>(), AssertionError);
  MemoryPool pool;
  EXPECT_THROW(tensor.copy(pool), AssertionError);
}

TEST(Tensor, keeps_shape_type_and_elements) {
  MemoryPool pool;
  const Tensor tensor = Tensor::from<int32_t>(pool, {2, 3}, std::vector<int32_t>{1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(tensor.defined());
  EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
  EXPECT_EQ(tensor.dtype(), DType::I32);
  EXPECT_EQ(tensor.count(), 6);
  EXPECT_EQ(tensor.rows(), 2);
  EXPECT_EQ(tensor.cols(), 3);
  EXPECT_EQ(tensor.bytes(), 24U);
  EXPECT_EQ(elements<int32_t>(tensor), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Tensor, takes_as_many_bytes_as_its_type_needs) {
  MemoryPool pool;
  EXPECT_EQ(Tensor::empty(pool, {5}, DType::BF16).bytes(), 10U);
  EXPECT_EQ(Tensor::empty(pool, {5}, DType::F32).bytes(), 20U);
  EXPECT_EQ(Tensor::empty(pool, {5}, DType::F64).bytes(), 40U);
  EXPECT_EQ(Tensor::empty(pool, {}, DType::F64).bytes(), 8U);
}

TEST(Tensor, lies_in_aligned_memory_of_the_pool) {
  MemoryPool pool;
  const Tensor tensor = Tensor::empty(pool, {1000}, DType::F32);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data<float>()) % kAlignment, 0U);
  EXPECT_GE(pool.stats().in_use, 4000U);
}

TEST(Tensor, refuses_to_be_read_as_another_type) {
  MemoryPool pool;
  const Tensor tensor = one_two_three(pool);
  EXPECT_THROW(tensor.data<int32_t>(), AssertionError);
  EXPECT_THROW(tensor.values<Bf16>(), AssertionError);
  EXPECT_THROW(tensor.values<double>(), AssertionError);
}

TEST(Tensor, refuses_a_wrong_number_of_values) {
  MemoryPool pool;
  const std::vector<float> three = {1, 2, 3};
  EXPECT_THROW(Tensor::from<float>(pool, {2}, three), AssertionError);
  EXPECT_THROW(Tensor::from<float>(pool, {4}, three), AssertionError);
  EXPECT_THROW(Tensor::from<float>(pool, {0}, three), AssertionError);
  EXPECT_THROW(Tensor::from<float>(pool, {3}, {}), AssertionError);
}

TEST(Tensor, zeros_are_zero_also_in_memory_that_was_used_before) {
  MemoryPool pool;
  for (const DType dtype : {DType::F32, DType::BF16, DType::I8, DType::I32, DType::F64}) {
    {
      const Tensor used = Tensor::empty(pool, {16}, DType::F64);
      std::ranges::fill(used.values<double>(), -1.5);
    }
    const Tensor tensor = Tensor::zeros(pool, {16 * 8 / static_cast<int64_t>(size_of(dtype))}, dtype);
    switch (dtype) {
      case DType::F32:
        EXPECT_EQ(elements<float>(tensor), std::vector<float>(32));
        break;
      case DType::BF16:
        EXPECT_EQ(elements<Bf16>(tensor), std::vector<Bf16>(64));
        break;
      case DType::I8:
        EXPECT_EQ(elements<int8_t>(tensor), std::vector<int8_t>(128));
        break;
      case DType::I32:
        EXPECT_EQ(elements<int32_t>(tensor), std::vector<int32_t>(32));
        break;
      case DType::F64:
        EXPECT_EQ(elements<double>(tensor), std::vector<double>(16));
        break;
    }
  }
}

TEST(Tensor, a_handle_shares_the_elements) {
  MemoryPool pool;
  const Tensor tensor = one_two_three(pool);
  const Tensor handle = tensor;
  handle.data<float>()[0] = 9;
  EXPECT_EQ(elements<float>(tensor), (std::vector<float>{9, 2, 3}));
}

TEST(Tensor, a_copy_has_elements_of_its_own) {
  MemoryPool pool;
  const Tensor tensor = one_two_three(pool);
  const Tensor copy = tensor.copy(pool);
  EXPECT_EQ(copy.shape(), tensor.shape());
  EXPECT_EQ(copy.dtype(), tensor.dtype());
  copy.data<float>()[0] = 9;
  tensor.data<float>()[2] = 7;
  EXPECT_EQ(elements<float>(tensor), (std::vector<float>{1, 2, 7}));
  EXPECT_EQ(elements<float>(copy), (std::vector<float>{9, 2, 3}));
}

TEST(Tensor, borrows_elements_and_keeps_their_owner_alive) {
  MemoryPool pool;
  auto owner = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3});
  const auto* bytes = reinterpret_cast<const std::byte*>(owner->data());
  Tensor tensor = Tensor::borrow(owner, bytes, {3}, DType::F32);
  EXPECT_EQ(tensor.data<float>(), owner->data()) << "not a copy";
  EXPECT_EQ(pool.stats().in_use, 0U);
  const std::weak_ptr<const std::vector<float>> watch = owner;
  owner.reset();
  EXPECT_EQ(elements<float>(tensor), (std::vector<float>{1, 2, 3}));
  const Tensor copy = tensor.copy(pool);
  tensor = {};
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(elements<float>(copy), (std::vector<float>{1, 2, 3}));
}

TEST(Tensor, refuses_to_borrow_elements_that_are_not_aligned) {
  const auto owner = std::make_shared<const std::vector<float>>(2);
  const auto* bytes = reinterpret_cast<const std::byte*>(owner->data());
  EXPECT_THROW(Tensor::borrow(owner, bytes + 2, {1}, DType::F32), AssertionError);
  EXPECT_NO_THROW(Tensor::borrow(owner, bytes + 2, {1}, DType::BF16));
}

TEST(Tensor, knows_whether_another_handle_shares_its_elements) {
  MemoryPool pool;
  Tensor tensor = one_two_three(pool);
  EXPECT_TRUE(tensor.is_unshared());
  {
    const Tensor handle = tensor;
    EXPECT_FALSE(tensor.is_unshared());
    EXPECT_FALSE(handle.is_unshared());
  }
  EXPECT_TRUE(tensor.is_unshared());
  const Tensor copy = tensor.copy(pool);
  EXPECT_TRUE(tensor.is_unshared());
  const Tensor view = tensor.reshaped({3, 1});
  EXPECT_FALSE(tensor.is_unshared());
  tensor = {};
  EXPECT_TRUE(view.is_unshared());
}

TEST(Tensor, reshaped_shows_the_same_elements) {
  MemoryPool pool;
  const Tensor tensor = Tensor::from<float>(pool, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor view = tensor.reshaped({3, 2});
  EXPECT_EQ(view.shape(), (Shape{3, 2}));
  EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
  view.data<float>()[5] = 9;
  EXPECT_EQ(tensor.data<float>()[5], 9);
  EXPECT_EQ(tensor.reshaped({6}).count(), 6);
  EXPECT_EQ(tensor.reshaped({1, 1, 2, 3}).shape().rank(), 4);
}

TEST(Tensor, refuses_to_be_reshaped_to_another_count) {
  MemoryPool pool;
  const Tensor tensor = one_two_three(pool);
  EXPECT_THROW(tensor.reshaped({2}), AssertionError);
  EXPECT_THROW(tensor.reshaped({3, 0}), AssertionError);
  EXPECT_THROW(tensor.reshaped({}), AssertionError);
}

TEST(Tensor, may_be_empty) {
  MemoryPool pool;
  const Tensor tensor = Tensor::zeros(pool, {0, 5}, DType::F32);
  EXPECT_TRUE(tensor.defined());
  EXPECT_EQ(tensor.bytes(), 0U);
  EXPECT_EQ(tensor.cols(), 5);
  EXPECT_TRUE(tensor.values<float>().empty());
  EXPECT_EQ(tensor.copy(pool).shape(), (Shape{0, 5}));
  EXPECT_EQ(tensor.reshaped({7, 0}).rows(), 7);
  EXPECT_EQ(Tensor::from<float>(pool, {0}, {}).count(), 0);
  EXPECT_EQ(pool.stats().reserved, 0U);
}

TEST(Tensor, fill_zero_clears_every_element) {
  MemoryPool pool;
  const Tensor tensor = one_two_three(pool);
  tensor.fill_zero();
  EXPECT_EQ(elements<float>(tensor), std::vector<float>(3));
}

TEST(Tensor, returns_its_memory_with_the_last_handle) {
  MemoryPool pool;
  Tensor tensor = one_two_three(pool);
  Tensor view = tensor.reshaped({1, 3});
  tensor = {};
  EXPECT_GT(pool.stats().in_use, 0U);
  view = {};
  EXPECT_EQ(pool.stats().in_use, 0U);
}

}  // namespace
}  // namespace sluice
