#include "sluice/report/nursery_seeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"
#include "sluice/report/nursery_findings.h"

namespace sluice {
namespace {

constexpr const char* kSeedColumns[] = {"variant",        "seed",          "validation_loss", "sink",
                                        "max_activation", "copy_accuracy", "excess"};

// A line, where it stands, and what its cells are called.
struct SeedLine {
  std::string where;
  const std::vector<std::string_view>& columns;
  std::vector<std::string_view> cells;
};

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The file may have more columns than are read here.
std::string_view cell_in(const SeedLine& line, std::string_view column) {
  const auto found = std::ranges::find(line.columns, column);
  SLUICE_ASSERT(found != line.columns.end(), "nursery: {} is not among the columns that were checked",
                column);
  return line.cells[static_cast<size_t>(found - line.columns.begin())];
}

template <class Number>
Number number_in(const SeedLine& line, std::string_view column) {
  const std::string_view cell = cell_in(line, column);
  Number number = {};
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error == std::errc() && end == cell.data() + cell.size() && std::isfinite(static_cast<double>(number)))
    return number;
  throw bad_input({.where = line.where,
                   .what = fmt::format("{} is not a number", column),
                   .got = fmt::format("\"{}\"", cell)});
}

// Empty of a run that diverged.
double figure_in(const SeedLine& line, std::string_view column) {
  return cell_in(line, column).empty() ? std::nan("") : number_in<double>(line, column);
}

bool is_measured(const NurserySeed& seed) {
  for (const auto figure : {&NurserySeed::validation_loss, &NurserySeed::sink, &NurserySeed::max_activation,
                            &NurserySeed::copy_accuracy, &NurserySeed::excess})
    if (!std::isfinite(seed.*figure)) return false;
  return true;
}

NurserySeed seed_of(const SeedLine& line) {
  if (line.cells.size() != line.columns.size())
    throw bad_input({.where = line.where,
                     .expected = fmt::format("{} cells", line.columns.size()),
                     .got = fmt::format("{} cells", line.cells.size())});
  NurserySeed seed{.variant = std::string(cell_in(line, "variant")),
                   .seed = number_in<int64_t>(line, "seed"),
                   .validation_loss = figure_in(line, "validation_loss"),
                   .sink = figure_in(line, "sink"),
                   .max_activation = figure_in(line, "max_activation"),
                   .copy_accuracy = figure_in(line, "copy_accuracy"),
                   .excess = figure_in(line, "excess")};
  if (!is_measured(seed)) seed.copy_accuracy = std::nan("");  // so it does not count
  return seed;
}

const NurserySeed* baseline_of(std::span<const NurserySeed> seeds, int64_t seed) {
  const auto found = std::ranges::find_if(seeds, [&](const NurserySeed& each) {
    return each.variant == stored_baseline(seeds) && each.seed == seed;
  });
  return found == seeds.end() ? nullptr : &*found;
}

}  // namespace

std::vector<NurserySeed> read_nursery_seeds(std::string_view csv, const std::string& name) {
  std::vector<std::string_view> lines = split_at(csv, '\n');
  if (lines.back().empty()) lines.pop_back();
  if (lines.empty()) throw bad_input({.where = name, .what = "has no line with the names of its columns"});
  const std::vector<std::string_view> columns = split_at(lines.front(), ',');
  for (const char* column : kSeedColumns)
    if (std::ranges::find(columns, column) == columns.end())
      throw bad_input({.where = name + ", line 1", .what = fmt::format("no column {}", column)});
  std::vector<NurserySeed> seeds;
  for (size_t i = 1; i < lines.size(); ++i)
    seeds.push_back(seed_of({fmt::format("{}, line {}", name, i + 1), columns, split_at(lines[i], ',')}));
  return seeds;
}

std::vector<NurserySeed> stored_nursery_seeds(const NurseryPair& pair) {
  const auto table = std::ranges::find(stored_tables(), std::string_view(pair.stored), &StoredTable::name);
  SLUICE_ASSERT(table != stored_tables().end(), "nursery: no table {} is stored", pair.stored);
  return read_nursery_seeds(table->text, std::string(table->name));
}

std::vector<std::string> variants_of(std::span<const NurserySeed> seeds) {
  std::vector<std::string> variants;
  for (const NurserySeed& seed : seeds)
    if (std::ranges::find(variants, seed.variant) == variants.end()) variants.push_back(seed.variant);
  return variants;
}

const std::string& stored_baseline(std::span<const NurserySeed> seeds) {
  return seeds.front().variant;
}

std::optional<MeanInterval> mean_of_seeds(std::span<const NurserySeed> seeds, const std::string& variant,
                                          double NurserySeed::*figure) {
  std::vector<double> values;
  for (const NurserySeed& seed : seeds)
    if (seed.variant == variant && solves(seed.copy_accuracy)) values.push_back(seed.*figure);
  if (values.empty()) return {};
  return mean_interval(values);
}

DifferenceAtLook difference_of_seeds(std::span<const NurserySeed> seeds, const std::string& variant,
                                     double NurserySeed::*figure, std::span<const ExperimentLook> looks) {
  if (seeds.empty()) return {};
  const int64_t first = std::ranges::min(seeds, {}, &NurserySeed::seed).seed;
  std::vector<EndedPair> pairs;
  for (const NurserySeed& run : seeds) {
    const NurserySeed* baseline = baseline_of(seeds, run.seed);
    if (run.variant != variant || baseline == nullptr) continue;
    pairs.push_back({.seed_index = run.seed - first});
    if (solves(run.copy_accuracy) && solves(baseline->copy_accuracy))
      pairs.back().difference = run.*figure - baseline->*figure;
  }
  std::ranges::sort(pairs, {}, &EndedPair::seed_index);
  return difference_at_look(pairs, looks);
}

}  // namespace sluice
