#include "sluice/tensor/tensor.h"

#include <cstring>

#include "sluice/base/file.h"

namespace sluice {

Tensor Tensor::empty(MemoryPool& pool, const Shape& shape, DType dtype) {
  Tensor tensor;
  tensor.shape_ = shape;
  tensor.dtype_ = dtype;
  const auto block = std::make_shared<MemoryPool::Block>(pool.allocate(tensor.bytes()));
  tensor.storage_ = {block, block->data()};
  return tensor;
}

Tensor Tensor::borrow(std::shared_ptr<const void> owner, const std::byte* elements, const Shape& shape,
                      DType dtype) {
  SLUICE_ASSERT(reinterpret_cast<uintptr_t>(elements) % size_of(dtype) == 0,
                "tensor: borrowed {} elements are not aligned", name_of(dtype));
  Tensor tensor;
  tensor.shape_ = shape;
  tensor.dtype_ = dtype;
  tensor.storage_ = {std::move(owner), const_cast<std::byte*>(elements)};
  tensor.borrowed_ = true;
  return tensor;
}

Tensor Tensor::zeros(MemoryPool& pool, const Shape& shape, DType dtype) {
  Tensor tensor = empty(pool, shape, dtype);
  tensor.fill_zero();
  return tensor;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  SLUICE_ASSERT(shape.count() == count(), "tensor: {} cannot be reshaped to {}", shape_.text(), shape.text());
  Tensor view = *this;
  view.shape_ = shape;
  return view;
}

Tensor Tensor::rows_between(int64_t begin, int64_t end) const {
  SLUICE_ASSERT(shape_.rank() == 2 && 0 <= begin && begin <= end && end <= rows(),
                "tensor: rows {} to {} of {}", begin, end, shape_.text());
  Tensor view = *this;
  view.shape_ = {end - begin, cols()};
  const auto skipped = static_cast<size_t>(begin * cols()) * size_of(dtype_);
  view.storage_ = {storage_, storage_.get() + skipped};
  return view;
}

Tensor Tensor::copy(MemoryPool& pool) const {
  Tensor other = empty(pool, shape_, dtype_);
  other.copy_in({raw(), bytes()});
  return other;
}

void Tensor::fill_zero() const {
  // Zero bits are zero in every element type.
  if (bytes() > 0) std::memset(raw(), 0, bytes());
}

std::byte* Tensor::raw() const {
  SLUICE_ASSERT(defined(), "tensor: used before it holds anything");
  return storage_.get();
}

void Tensor::copy_in(std::span<const std::byte> source) const {
  SLUICE_ASSERT(source.size() == bytes(), "tensor: {} bytes for a {} {} tensor", source.size(), shape_.text(),
                name_of(dtype_));
  if (!source.empty()) std::memcpy(raw(), source.data(), source.size());
}

void Tensor::forget_rows(int64_t begin, int64_t end) const {
  if (!borrowed_) return;
  SLUICE_ASSERT(0 <= begin && begin <= end && end <= rows(), "tensor: rows {} to {} of {}", begin, end,
                rows());
  const size_t row = static_cast<size_t>(cols()) * size_of(dtype_);
  forget_mapped_pages({raw() + static_cast<size_t>(begin) * row, static_cast<size_t>(end - begin) * row});
}

}  // namespace sluice
