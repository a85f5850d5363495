// What tables share: columns with their formats, cells of a distribution, cells of a mean over seeds.
#pragma once

#include <iterator>
#include <limits>
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

// The ends are no numbers if it has no interval.
Interval around(const MeanInterval& mean);

// What a share can be, and what two of them can be apart; what is never negative.
inline constexpr Interval kShares{0, 1}, kShareDifferences{-1, 1};
inline constexpr Interval kSizes{0, std::numeric_limits<double>::infinity()};

// What is left of it where the value can be nothing else.
Interval within(Interval interval, const std::optional<Interval>& possible);

// With its interval, if it has one.
TableCell cell_over_seeds(const std::optional<MeanInterval>& mean);
TableCell cell_within(const std::optional<MeanInterval>& mean, const std::optional<Interval>& possible);

template <class T>
void append(std::vector<T>& to, std::vector<T> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace sluice
