#include "sluice/analysis/activation_measure.h"

#include <cmath>

namespace sluice {
namespace {

// The first of the largest.
LargestValue largest_of(std::span<const float> values, size_t row) {
  float size = -1;
  size_t at = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i]) <= size) continue;
    size = std::abs(values[i]);
    at = i;
  }
  return {.size = size,
          .channel = static_cast<int64_t>(at % row),
          .sequence = 0,
          .position = static_cast<int64_t>(at / row)};
}

}  // namespace

void add_activations(ActivationLayer& layer, const Tensor& value, const Sequences& sequences) {
  const auto row = static_cast<size_t>(value.count() / sequences.tokens());
  for (int64_t s = 0; s < sequences.count(); ++s) {
    const auto start = static_cast<size_t>(sequences.starts()[static_cast<size_t>(s)]);
    const auto length = static_cast<size_t>(sequences.length(s));
    LargestValue largest = largest_of(value.values<float>().subspan(start * row, length * row), row);
    largest.sequence = std::ssize(layer.by_sequence);
    layer.by_sequence.push_back(largest.size);
    if (largest.size > layer.largest.size) layer.largest = largest;
  }
}

double ActivationMeasure::mean() const {
  double sum = 0;
  for (const ActivationLayer& layer : layers) sum += layer.largest.size;
  return sum / static_cast<double>(layers.size());
}

}  // namespace sluice
