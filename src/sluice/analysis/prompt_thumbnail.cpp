#include "sluice/analysis/prompt_thumbnail.h"

#include <algorithm>
#include <cmath>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

// The part of `total` that cell `index` of `cells` stands for; none is empty, since there are no more cells
// than values.
Range part_of(int64_t index, int64_t cells, int64_t total) {
  return {index * total / cells, (index + 1) * total / cells};
}

// Apart from the mean: with a sum beside it, each value would wait for the one before, in a million of a map.
float cell_maximum(const ReducedMatrix& matrix, Range rows, Range columns) {
  float largest = matrix.values[rows.begin * matrix.row_stride + columns.begin];
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const float* row = matrix.values + r * matrix.row_stride;
    for (int64_t c = columns.begin; c < columns.end; ++c) largest = row[c] > largest ? row[c] : largest;
  }
  return largest;
}

float cell_mean(const ReducedMatrix& matrix, Range rows, Range columns) {
  double sum = 0;
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const float* row = matrix.values + r * matrix.row_stride;
    for (int64_t c = columns.begin; c < columns.end; ++c) sum += row[c];
  }
  return static_cast<float>(sum / static_cast<double>(rows.size() * columns.size()));
}

float reduced(const ReducedMatrix& matrix, Range rows, Range columns, Reduction reduction) {
  return reduction == Reduction::Maximum ? cell_maximum(matrix, rows, columns)
                                         : cell_mean(matrix, rows, columns);
}

}  // namespace

std::vector<uint8_t> byte_codes(const std::vector<float>& values, float low, float high) {
  const float scale = high > low ? 255.0F / (high - low) : 0.0F;
  std::vector<uint8_t> codes;
  codes.reserve(values.size());
  for (const float value : values)
    codes.push_back(static_cast<uint8_t>(std::lround(std::clamp((value - low) * scale, 0.0F, 255.0F))));
  return codes;
}

Thumbnail thumbnail_of(const ReducedMatrix& matrix, Reduction reduction) {
  SLUICE_ASSERT(matrix.rows > 0 && matrix.columns > 0, "thumbnail: {} × {}", matrix.rows, matrix.columns);
  Thumbnail thumbnail{.rows = std::min(matrix.rows, Thumbnail::kMaxSide),
                      .columns = std::min(matrix.columns, Thumbnail::kMaxSide)};
  std::vector<float> cells;
  for (int64_t r = 0; r < thumbnail.rows; ++r)
    for (int64_t c = 0; c < thumbnail.columns; ++c)
      cells.push_back(reduced(matrix, part_of(r, thumbnail.rows, matrix.rows),
                              part_of(c, thumbnail.columns, matrix.columns), reduction));
  const auto [lowest, highest] = std::ranges::minmax_element(cells);
  thumbnail.low = *lowest;
  thumbnail.high = *highest;
  thumbnail.codes = byte_codes(cells, thumbnail.low, thumbnail.high);
  return thumbnail;
}

}  // namespace sluice
