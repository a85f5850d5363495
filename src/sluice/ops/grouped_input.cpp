#include "sluice/ops/grouped_input.h"

#include <algorithm>

#include "sluice/ops/convert.h"

namespace sluice {

const Tensor& GroupedInput::rows(const Context& context) {
  if (!tokens_.defined()) return x_;
  if (rows_.defined()) return rows_;
  rows_ = context.empty({groups_.total(), x_.cols()}, x_.dtype());
  const size_t row_bytes = x_.bytes() / static_cast<size_t>(std::max<int64_t>(x_.rows(), 1));
  const auto bytes_of_tensor = [](const Tensor& tensor) {
    return with_compute_type("gather", tensor.dtype(), [&](auto zero) {
      return reinterpret_cast<std::byte*>(tensor.data<decltype(zero)>());
    });
  };
  std::byte* to = bytes_of_tensor(rows_);
  const std::byte* from = bytes_of_tensor(x_);
  context.threads().split(groups_.total(), 64, [&](Range range) {
    for (int64_t r = range.begin; r < range.end; ++r) {
      const auto token = static_cast<size_t>(tokens_.data<int32_t>()[r]);
      std::copy_n(from + token * row_bytes, row_bytes, to + static_cast<size_t>(r) * row_bytes);
    }
  });
  return rows_;
}

const Tensor& GroupedInput::rounded(const Context& context) {
  if (!rounded_.defined())
    rounded_ = convert(context, convert(context, rows(context), DType::BF16), DType::F32);
  return rounded_;
}

const PackedGroups& GroupedInput::packed(const Context& context) {
  if (!packed_.tiles.defined())
    packed_ = tokens_.defined() ? gathered_groups(context, x_, tokens_, groups_)
                                : packed_groups(context, x_, groups_);
  return packed_;
}

const QuantizedInput& GroupedInput::quantized(const Context& context) {
  if (!quantized_.defined()) quantized_ = quantized_input(context, rows(context));
  return quantized_;
}

void GroupedInput::drop_forms() {
  rows_ = rounded_ = {};
  packed_ = {};
  quantized_ = {};
}

}  // namespace sluice
