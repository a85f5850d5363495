#include "sluice/ops/rope_table.h"

#include <cmath>

namespace sluice {

RopeTable rope_table(const Context& context, const RopeTableOptions& options, DType dtype) {
  SLUICE_ASSERT(options.rotary >= 0 && options.rotary % 2 == 0,
                "rope_table: {} rotary channels, must be even", options.rotary);
  const int64_t half = options.rotary / 2;
  RopeTable table{.cos = context.empty({options.positions, half}, dtype),
                  .sin = context.empty({options.positions, half}, dtype)};
  with_compute_type("rope_table", dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t position = 0; position < options.positions; ++position) {
      for (int64_t c = 0; c < half; ++c) {
        const double exponent = -2.0 * static_cast<double>(c) / static_cast<double>(options.rotary);
        const double angle = static_cast<double>(position) * std::pow(options.base, exponent);
        table.cos.data<T>()[position * half + c] = static_cast<T>(std::cos(angle));
        table.sin.data<T>()[position * half + c] = static_cast<T>(std::sin(angle));
      }
    }
  });
  return table;
}

}  // namespace sluice
