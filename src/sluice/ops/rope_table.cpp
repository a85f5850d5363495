#include "sluice/ops/rope_table.h"

#include <cmath>

namespace sluice {

RopeTable rope_table(const Context& context, const RopeTableOptions& options, DType dtype) {
  const auto pairs = static_cast<int64_t>(options.frequencies.size());
  RopeTable table{.cos = context.empty({options.positions, pairs}, dtype),
                  .sin = context.empty({options.positions, pairs}, dtype)};
  with_compute_type("rope_table", dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t position = 0; position < options.positions; ++position) {
      for (int64_t c = 0; c < pairs; ++c) {
        const double angle = static_cast<double>(options.first_position + position) *
                             options.frequencies[static_cast<size_t>(c)];
        table.cos.data<T>()[position * pairs + c] = static_cast<T>(options.amplitude * std::cos(angle));
        table.sin.data<T>()[position * pairs + c] = static_cast<T>(options.amplitude * std::sin(angle));
      }
    }
  });
  return table;
}

std::vector<double> rope_frequencies(int64_t rotary, double base) {
  SLUICE_ASSERT(rotary >= 0 && rotary % 2 == 0, "rope_frequencies: {} rotary channels, must be even", rotary);
  std::vector<double> frequencies;
  for (int64_t c = 0; c < rotary; c += 2) {
    frequencies.push_back(std::pow(base, -static_cast<double>(c) / static_cast<double>(rotary)));
  }
  return frequencies;
}

}  // namespace sluice
