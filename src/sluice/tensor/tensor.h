// A contiguous, row-major array, in pooled memory or in memory that somebody else owns. A Tensor is a handle:
// copies share the elements.
// No arithmetic here; that is ops/.
#pragma once

#include <memory>
#include <span>

#include "sluice/base/assert.h"
#include "sluice/base/memory.h"
#include "sluice/tensor/dtype.h"
#include "sluice/tensor/shape.h"

namespace sluice {

class Tensor {
 public:
  Tensor() = default;  // holds nothing: defined() is false

  static Tensor empty(MemoryPool& pool, const Shape& shape, DType dtype);
  static Tensor zeros(MemoryPool& pool, const Shape& shape, DType dtype);

  template <Element T>
  static Tensor from(MemoryPool& pool, const Shape& shape, std::span<const T> values) {
    Tensor tensor = empty(pool, shape, dtype_of<T>);
    tensor.copy_in(std::as_bytes(values));
    return tensor;
  }

  // Elements of a file that `owner` keeps mapped read-only. Nobody may write to them.
  static Tensor borrow(std::shared_ptr<const void> owner, const std::byte* elements, const Shape& shape,
                       DType dtype);

  bool defined() const { return storage_.use_count() > 0; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  int64_t count() const { return shape_.count(); }
  int64_t rows() const { return shape_.rows(); }
  int64_t cols() const { return shape_.cols(); }
  size_t bytes() const { return static_cast<size_t>(count()) * size_of(dtype_); }

  template <Element T>
  T* data() const {
    SLUICE_ASSERT(dtype_ == dtype_of<T>, "tensor: elements are {}, not {}", name_of(dtype_),
                  name_of(dtype_of<T>));
    return reinterpret_cast<T*>(raw());
  }

  template <Element T>
  std::span<T> values() const {
    return {data<T>(), static_cast<size_t>(count())};
  }

  // The same elements under another shape of equal count.
  Tensor reshaped(const Shape& shape) const;

  // Some rows of a matrix, sharing elements.
  Tensor rows_between(int64_t begin, int64_t end) const;

  // A tensor of its own with the same elements.
  Tensor copy(MemoryPool& pool) const;

  void fill_zero() const;

  // Some rows will hardly be needed again: those of a file leave memory, and come back from it when they are
  // read after all. Others stay.
  void forget_rows(int64_t begin, int64_t end) const;

  // Empty tensors have no address: theirs is told by the owner.
  bool shares_elements(const Tensor& other) const {
    return storage_ == other.storage_ && !storage_.owner_before(other.storage_) &&
           !other.storage_.owner_before(storage_);
  }

  // Whether no other handle shares the elements, so that writing to them disturbs nobody.
  bool is_unshared() const { return storage_.use_count() == 1; }

 private:
  std::byte* raw() const;
  void copy_in(std::span<const std::byte> source) const;

  Shape shape_;
  DType dtype_ = DType::F32;
  bool borrowed_ = false;
  std::shared_ptr<std::byte> storage_;  // the first element; owns whatever it lies in
};

}  // namespace sluice
