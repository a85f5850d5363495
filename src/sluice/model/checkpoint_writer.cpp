#include "sluice/model/checkpoint_writer.h"

#include <algorithm>

#include "sluice/model/stored_part.h"

namespace sluice {
namespace {

// A stored tensor and the parameters that lie in it.
struct Packed {
  StoredPart whole;
  std::vector<size_t> parameters;
};

std::vector<Packed> packed(const std::vector<StoredPart>& parts) {
  std::vector<Packed> tensors;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto same = [&](const Packed& each) { return each.whole.tensor == parts[i].tensor; };
    // Parts of a tensor lie close together: from the end it is found after a few. What is whole has no
    // others.
    const auto begin = parts[i].rows.empty() ? tensors.rend() : tensors.rbegin();
    const auto found = std::find_if(begin, tensors.rend(), same);
    if (found != tensors.rend()) {
      found->parameters.push_back(i);
    } else {
      tensors.push_back({.whole = parts[i], .parameters = {i}});
    }
  }
  return tensors;
}

// Of parameters that share a tensor: the type that all have, or one that loses nothing of any.
StoredType common_type(const std::vector<size_t>& parameters, const ParameterSource& source) {
  const StoredType first = source.stored_type(parameters.front());
  const bool same = std::ranges::all_of(parameters, [&](size_t i) { return source.stored_type(i) == first; });
  return same ? first : StoredType::F32;
}

void scatter(const Tensor& values, std::span<const RowRange> rows, const Tensor& whole) {
  const int64_t width = whole.count() / whole.shape()[0];
  const float* from = values.data<float>();
  for (const RowRange& each : rows) {
    std::copy_n(from, each.count * width, whole.data<float>() + each.first * width);
    from += each.count * width;
  }
}

}  // namespace

std::vector<TensorOutput> checkpoint_tensors(const Decoder& decoder, MemoryPool& pool,
                                             const ParameterSource& source) {
  const std::vector<StoredPart> parts = stored_parts(decoder);
  std::vector<TensorOutput> outputs;
  for (const Packed& tensor : packed(parts)) {
    const size_t first = tensor.parameters.front();
    TensorOutput output{.name = tensor.whole.tensor,
                        .info = {common_type(tensor.parameters, source), tensor.whole.shape},
                        .values = [values = source.values, first] { return values(first); }};
    if (!tensor.whole.rows.empty()) {
      output.values = [values = source.values, tensor, parts, &pool] {
        const Tensor whole = Tensor::empty(pool, tensor.whole.shape, DType::F32);
        for (const size_t i : tensor.parameters) scatter(values(i), parts[i].rows, whole);
        return whole;
      };
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace sluice
