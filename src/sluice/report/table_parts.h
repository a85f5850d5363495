// What tables share: columns with their formats, cells of a distribution, cells of a mean over seeds.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "sluice/analysis/distribution.h"
#include "sluice/experiment/statistics.h"
#include "sluice/report/table.h"

namespace sluice {

inline constexpr NumberFormat kFourDecimals{.style = NumberStyle::Fixed, .digits = 4};

TableColumn text_column(std::string name);
TableColumn share_column(std::string name, std::string note = "");
TableColumn number_column(std::string name, std::string note = "");

// From the mean to the bimodality.
std::vector<TableColumn> distribution_columns();
std::vector<TableCell> distribution_cells(const Distribution& values);

// With its interval, if it has one, as far as the value can be at all.
TableCell cell_over_seeds(const std::optional<MeanInterval>& mean,
                          const std::optional<Interval>& possible = {});

template <class T>
void append(std::vector<T>& to, std::vector<T> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace sluice
