// Computed tensors against those of a golden file.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sluice/io/safetensors.h"
#include "sluice/tensor/tensor.h"

namespace sluice::test {

template <class T>
std::vector<T> stored(const SafetensorsFile& file, const std::string& name) {
  const auto bytes = file.bytes(name);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// What a difference is measured against: itself, or the largest element that is expected.
enum class Scale { Absolute, OfLargest };

struct Tolerance {
  double limit;
  Scale scale = Scale::Absolute;
};

inline double largest(const std::vector<float>& values) {
  double found = 0;
  for (const float value : values) found = std::max(found, std::abs(double{value}));
  return found;
}

inline testing::AssertionResult agrees(const SafetensorsFile& file, const std::string& name,
                                       const Tensor& got, const Tolerance& tolerance) {
  if (!got.defined()) return testing::AssertionFailure() << name << " was not computed";
  if (got.shape() != file.info(name).shape) {
    return testing::AssertionFailure()
           << name << " has shape " << got.shape().text() << ", expected " << file.info(name).shape.text();
  }
  const std::vector<float> expected = stored<float>(file, name);
  const auto values = got.values<float>();
  const auto off = [&](size_t i) { return std::abs(double{values[i]} - expected[i]); };
  size_t worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    // Not a number never compares as larger.
    if (off(i) > off(worst) || std::isnan(values[i])) worst = i;
  }
  const double limit = tolerance.limit * (tolerance.scale == Scale::OfLargest ? largest(expected) : 1.0);
  if (off(worst) <= limit) return testing::AssertionSuccess();
  return testing::AssertionFailure() << name << got.shape().text() << ", element " << worst << ": got "
                                     << values[worst] << ", expected " << expected[worst] << ", off by "
                                     << off(worst) << ", allowed " << limit;
}

}  // namespace sluice::test
