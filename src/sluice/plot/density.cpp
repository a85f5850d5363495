#include "sluice/plot/density.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

double counted(double count) {
  return std::isfinite(count) && count > 0 ? count : 0;
}

double centre_of(const BinnedCounts& bins, size_t bin) {
  return (bins.edges[bin] + bins.edges[bin + 1]) / 2;
}

double range_of(const BinnedCounts& bins) {
  return bins.edges.back() - bins.edges.front();
}

void check_bins(const BinnedCounts& bins) {
  if (bins.counts.empty()) return;
  SLUICE_ASSERT(bins.edges.size() == bins.counts.size() + 1, "density: {} edges around {} bins",
                bins.edges.size(), bins.counts.size());
  for (size_t i = 0; i < bins.counts.size(); ++i)
    SLUICE_ASSERT(bins.edges[i] < bins.edges[i + 1], "density: bin {} is from {} to {}", i, bins.edges[i],
                  bins.edges[i + 1]);
}

double deviation(const BinnedCounts& bins, double total) {
  double mean = 0, square = 0;
  for (size_t i = 0; i < bins.counts.size(); ++i)
    mean += counted(bins.counts[i]) / total * centre_of(bins, i);
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    const double off = centre_of(bins, i) - mean;
    square += counted(bins.counts[i]) / total * off * off;
  }
  return std::sqrt(square);
}

// Silverman's rule, which is meant for one hump: no less than a bin, where there is nothing to be seen
// between, and no more than what would make two humps one.
double bandwidth(const BinnedCounts& bins, double total) {
  const double bin = range_of(bins) / static_cast<double>(bins.counts.size());
  const double rule = 0.9 * deviation(bins, total) * std::pow(total, -0.2);
  return std::max(bin, std::min(rule, range_of(bins) / 25));
}

double normal(double distance, double width) {
  const double z = distance / width;
  return std::exp(-z * z / 2) / (width * std::sqrt(2 * std::numbers::pi));
}

// With its images in mirrors at both ends. Images of images count where the width is that of the whole range.
double mirrored(const BinnedCounts& bins, double x, double at, double width) {
  const double image = 2 * bins.edges.front() - at, period = 2 * range_of(bins);
  double sum = 0;
  for (const double shift : {-period, 0.0, period})
    sum += normal(x - at - shift, width) + normal(x - image - shift, width);
  return sum;
}

}  // namespace

double BinnedCounts::total() const {
  double sum = 0;
  for (const double count : counts) sum += counted(count);
  return sum;
}

std::vector<double> densities(const BinnedCounts& bins) {
  check_bins(bins);
  const double total = bins.total();
  std::vector<double> result;
  for (size_t i = 0; i < bins.counts.size(); ++i)
    result.push_back(total == 0 ? 0 : counted(bins.counts[i]) / total / (bins.edges[i + 1] - bins.edges[i]));
  return result;
}

std::vector<Point> smoothed_density(const BinnedCounts& bins) {
  constexpr int kPoints = 200;
  check_bins(bins);
  const double total = bins.total();
  if (total == 0) return {};
  const double width = bandwidth(bins, total);
  std::vector<Point> line;
  for (int i = 0; i <= kPoints; ++i) {
    const double x = bins.edges.front() + range_of(bins) * i / kPoints;
    double density = 0;
    for (size_t bin = 0; bin < bins.counts.size(); ++bin)
      density += counted(bins.counts[bin]) / total * mirrored(bins, x, centre_of(bins, bin), width);
    line.push_back({x, density});
  }
  return line;
}

}  // namespace sluice
