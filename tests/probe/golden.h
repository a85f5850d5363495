// The tiny checkpoints and what the official model code computed for them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "sluice/io/safetensors.h"
#include "sluice/probe/trace.h"

namespace sluice {

inline std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(SLUICE_SOURCE_DIR) / "tests/golden/official" / name;
}

inline std::vector<int32_t> ids_of(const SafetensorsFile& file) {
  std::vector<int32_t> ids;
  const auto bytes = file.bytes("input_ids");
  for (size_t at = 0; at < bytes.size(); at += sizeof(int64_t)) {
    int64_t id = 0;
    std::memcpy(&id, bytes.data() + at, sizeof id);
    ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

inline std::vector<float> floats_of(const SafetensorsFile& file, const std::string& name) {
  const auto bytes = file.bytes(name);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Infinite if there are more or fewer values, or one is not a number.
inline double largest_difference(const Tensor& got, std::span<const float> expected) {
  const auto values = got.values<float>();
  if (values.size() != expected.size()) return INFINITY;
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(double{values[i]} - expected[i]);
    if (std::isnan(difference)) return INFINITY;
    largest = std::max(largest, difference);
  }
  return largest;
}

inline double relative_l2(const Tensor& got, const std::vector<float>& expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(double{got.values<float>()[i]} - expected[i], 2);
    norm += std::pow(double{expected[i]}, 2);
  }
  return std::sqrt(difference / norm);
}

// A trace in f32 is what the official code computed.
inline void expect_agreement(const Trace& got, const SafetensorsFile& expected) {
  EXPECT_LE(largest_difference(got.logits, floats_of(expected, "logits")), 2e-4);
  EXPECT_LE(largest_difference(got.hidden, floats_of(expected, "hidden")), 2e-4);
  EXPECT_LE(largest_difference(got.attn, floats_of(expected, "attn")), 1e-5);
  ASSERT_EQ(got.gates.defined(), expected.contains("gates"));
  if (got.gates.defined()) {
    EXPECT_LE(largest_difference(got.gates, floats_of(expected, "gates")), 1e-5);
  }
}

}  // namespace sluice
