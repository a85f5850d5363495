// A matrix as a small picture in bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/base/threads.h"

namespace sluice {

struct Thumbnail {
  static constexpr int64_t kMaxSide = 64;

  int64_t rows = 0, columns = 0;
  float low = 0, high = 0;          // the smallest and the largest value
  std::vector<uint8_t> codes = {};  // [rows, columns]: the value is low + code · step()

  float step() const { return (high - low) / 255.0F; }
};

// What a cell of the picture shows of the values that it stands for. A thin bright line stays bright in their
// maximum and fades in their mean.
enum class Reduction { Maximum, Mean };

struct ReducedMatrix {
  const float* values = nullptr;
  int64_t rows = 0, columns = 0;
  int64_t row_stride = 0;  // from one row to the next
};

Thumbnail thumbnail_of(const ReducedMatrix& matrix, Reduction reduction);

// Values between the two as bytes.
std::vector<uint8_t> byte_codes(const std::vector<float>& values, float low, float high);

}  // namespace sluice
