#include "sluice/report/table_parts.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr NumberFormat kPercent{.style = NumberStyle::Percent, .digits = 2};

}  // namespace

TableColumn text_column(std::string name) {
  return {.name = std::move(name), .kind = ColumnKind::Text};
}

TableColumn share_column(std::string name, std::string note) {
  return {.name = std::move(name), .note = std::move(note), .format = kPercent};
}

TableColumn number_column(std::string name, std::string note) {
  return {.name = std::move(name), .note = std::move(note), .format = kFourDecimals};
}

std::vector<TableColumn> distribution_columns() {
  return {
      number_column("mean"),
      number_column("median"),
      number_column("std"),
      share_column("below 0.1", "nearly closed"),
      share_column("below 0.5"),
      share_column("above 0.9", "nearly open"),
      number_column("bimodality", "Sarle's coefficient; 0.555 for a flat distribution, more for two humps")};
}

std::vector<TableCell> distribution_cells(const Distribution& values) {
  return {values.moments().mean(), values.quantile(0.5), values.moments().deviation(), values.closed(),
          values.below_half(),     values.open(),        values.bimodality()};
}

TableCell cell_over_seeds(const std::optional<MeanInterval>& mean, const std::optional<Interval>& possible) {
  if (!mean) return Missing{};
  if (!mean->half_width) return mean->mean;
  return Estimate{mean->mean, within(around(*mean), possible)};
}

}  // namespace sluice
